package effects_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/effects"
)

// sent is a command of a client and its reply, "" if there was none.
func sent(client, command, reply string) histories.Exchange {
	words := strings.Fields(command)
	return histories.Exchange{Client: client, Node: "redis-1", Conn: 1, Command: command, Words: words, Reply: reply}
}

// inOrder sends one exchange each 10 ms, and has it answered after one.
func inOrder(x ...histories.Exchange) []histories.Exchange {
	for i := range x {
		x[i].Sent, x[i].Seq = time.Duration(10*i+1)*time.Millisecond, i+1
		if x[i].Reply != "" {
			x[i].Replied = x[i].Sent + time.Millisecond
		}
	}
	return x
}

func script(client, text, command, reply string) histories.Exchange {
	x := sent(client, command, reply)
	x.Script = text
	return x
}

const compareAndDelete = `if redis.call('GET', KEYS[1]) == ARGV[1] then
  return redis.call('DEL', KEYS[1])
end
return 0`

// Scripts of a lock that is a field of a hash.
const (
	compareAndHDel = `if redis.call('HGET', KEYS[1], 'owner') == ARGV[1] then
  return redis.call('HDEL', KEYS[1], 'owner')
end
return 0`
	compareAndHSetEx = `if redis.call('HGET', KEYS[1], 'owner') == ARGV[1] then
  return redis.call('HSETEX', KEYS[1], 'FXX', 'PX', ARGV[2], 'FIELDS', 1, 'owner', ARGV[1])
end
return 0`
)

// Scripts of a lock whose holders are members of a sorted set, each with its end.
const (
	membersNow = `local now = redis.call("TIME")
now = now[1] * 1000 + math.floor(now[2] / 1000)
`
	addMember = `local key = KEYS[1]
local who = ARGV[1]
local long = tonumber(ARGV[2])
` + membersNow + `redis.call("ZREMRANGEBYSCORE", key, "-inf", now)
if not redis.call("ZSCORE", key, who) and redis.call("ZCARD", key) > 0 then
  return false
end
redis.call("ZADD", key, now + long, who)
redis.call("ZADD", key, now + long, "__write__")
local last = redis.call("ZREVRANGE", key, 0, 0, "WITHSCORES")[2]
redis.call("PEXPIREAT", key, last)
return true`
	removeMember = `local key = KEYS[1]
local who = ARGV[1]
if not redis.call("ZSCORE", key, who) then
  return false
end
redis.call("ZREM", key, who)
redis.call("ZREM", key, "__write__")
local last = redis.call("ZREVRANGE", key, 0, 0, "WITHSCORES")[2]
if nil ~= last then
  redis.call("PEXPIREAT", key, last)
end
return true`
)

func TestEffects(t *testing.T) {
	add := func(client, command, reply string) histories.Exchange {
		return script(client, addMember, command, reply)
	}
	remove := func(client, command, reply string) histories.Exchange {
		return script(client, removeMember, command, reply)
	}
	twisted := func(old, young string) histories.Exchange {
		return script("A", strings.Replace(addMember, old, young, 1), "EVAL d9 1 k aaaa 3000", "1")
	}
	hDel := func(client, command, reply string) histories.Exchange {
		return script(client, compareAndHDel, command, reply)
	}
	hSetEx := func(client, command, reply string) histories.Exchange {
		return script(client, compareAndHSetEx, command, reply)
	}
	held := func(x histories.Exchange, replied time.Duration) histories.Exchange {
		x.Replied = replied
		return x
	}
	for _, tt := range []struct {
		name string
		x    []histories.Exchange
		want string // client, kind and whose it had been, of each effect
	}{
		{"taken, refused, freed", inOrder(
			sent("A", "SET k a NX PX 3000", "OK"), sent("B", "SET k b NX PX 3000", "nil"), sent("A", "DEL k", "1"),
		), "A takes -; B refused A; A frees A"},
		{"another's key is deleted after the lease", inOrder(
			sent("A", "SET k a NX PX 5", "OK"), sent("B", "SET k b NX PX 3000", "OK"), sent("A", "DEL k", "1"),
		), "A takes -; B takes -; A frees B"},
		{"nothing was there to delete", inOrder(
			sent("A", "SET k a NX PX 3000", "OK"), sent("A", "DEL k", "1"), sent("B", "DEL k", "0"),
		), "A takes -; A frees A; B refused -"},
		{"a release in another database", inOrder(
			sent("B", "SET k b NX PX 3000", "OK"), sent("A", "SELECT 3", "OK"), sent("A", "DEL k", "0"), sent("B", "DEL k", "1"),
		), "B takes -; A@3 refused -; B frees B"},
		{"scripts that compare", inOrder(
			sent("B", "SET k bbbb NX PX 3000", "OK"),
			script("A", compareAndDelete, "EVAL d1 1 k aaaa", "0"), sent("B", "EVALSHA d1 1 k bbbb", "1"),
		), "B takes -; A refused B; B frees B"},
		{"a script that nobody has seen", inOrder(
			sent("B", "SET k bbbb NX PX 3000", "OK"), sent("A", "EVALSHA d2 1 k aaaa", "1"), sent("B", "DEL k", "1"),
		), "B takes -; A unclear B; B frees ?"},
		{"a script that says no of its caller's own key", inOrder(
			sent("A", "SET k aaaa NX PX 3000", "OK"), script("A", compareAndDelete, "EVAL d1 1 k aaaa", "0"), sent("A", "DEL k", "1"),
		), "A takes -; A unclear A; A frees ?"},
		{"extended, in seconds", inOrder(
			sent("A", "SET k a NX PX 15", "OK"), sent("A", "EXPIRE k 3", "1"), sent("B", "SET k b NX PX 15", "nil"), sent("A", "EXPIRE k 0", "1"),
		), "A takes -; A extends A; B refused A; A frees A"},
		{"written over", inOrder(
			sent("A", "SET k a NX PX 3000", "OK"), sent("B", "GETSET k b", "a"), sent("A", "DEL k", "1"),
		), "A takes -; B overwrites A; A frees B"},
		{"written over, and asked what was there", inOrder(
			sent("A", "SET k a PX 3000 GET", "nil"), sent("B", "SET k b GET PX 3000", "a"), sent("A", "DEL k", "1"),
		), "A takes -; B overwrites A; A frees B"},
		{"asked what is there, by who writes only what is free", inOrder(
			sent("A", "SET k a NX PX 3000", "OK"), sent("B", "SET k b NX GET PX 3000", "a"), sent("A", "DEL k", "1"),
		), "A takes -; B unclear A; A frees ?"},
		{"written over for what is left", inOrder(
			sent("A", "SET k a NX PX 3000", "OK"), sent("B", "SET k b XX KEEPTTL", "OK"), sent("B", "DEL k", "1"), sent("B", "SET k b XX KEEPTTL", "nil"),
		), "A takes -; B overwrites A; B frees B; B refused -"},
		{"a transaction that was given up, and one that was not", inOrder(
			sent("A", "SET k a NX PX 3000", "OK"),
			sent("A", "MULTI", "OK"), sent("A", "DEL k", "QUEUED"), sent("A", "EXEC", "nil"),
			sent("A", "MULTI", "OK"), sent("A", "DEL k", "QUEUED"), sent("A", "EXEC", "[1]"),
		), "A takes -; A refused A; A frees A"},
		{"a lost SET NX cannot touch what another holds", inOrder(
			sent("A", "SET k a NX PX 3000", ""), sent("B", "SET k b NX PX 3000", "OK"), sent("B", "DEL k", "1"),
		), "A unclear ?; B takes -; B frees B"},
		{"which of two came first decides the key that is there", []histories.Exchange{
			held(sent("A", "SET k a NX PX 3000", "OK"), 2),
			held(histories.Exchange{Sent: 10, Client: "A", Node: "redis-1", Words: []string{"DEL", "k"}, Reply: "1"}, 50),
			held(histories.Exchange{Sent: 20, Client: "B", Node: "redis-1", Words: []string{"SET", "k", "b", "NX", "PX", "3000"}, Reply: "OK"}, 30),
		}, "A takes -; A frees A; B takes -"},
		{"which of two came first is not known", []histories.Exchange{
			held(histories.Exchange{Sent: 10, Client: "A", Node: "redis-1", Words: []string{"SET", "k", "a", "PX", "3000"}, Reply: "OK"}, 50),
			held(histories.Exchange{Sent: 20, Client: "B", Node: "redis-1", Words: []string{"SET", "k", "b", "PX", "3000"}, Reply: "OK"}, 30),
			held(histories.Exchange{Sent: 60, Client: "C", Node: "redis-1", Words: []string{"DEL", "k"}, Reply: "1"}, 70),
		}, "A takes -; B overwrites ?; C frees ?"},
		{"a command that was dropped, and a reply that was", inOrder(
			sent("A", "SET k a NX PX 3000", "OK"),
			histories.Exchange{Client: "A", Node: "redis-1", Conn: 1, Words: []string{"DEL", "k"}, Note: "command dropped"},
			histories.Exchange{Client: "A", Node: "redis-1", Conn: 1, Words: []string{"DEL", "k"}, Note: "reply dropped", Answered: 22 * time.Millisecond, Answer: "1"},
		), "A takes -; A frees A"},
		{"executed twice", inOrder(
			sent("A", "SET k a NX PX 3000", "OK"),
			histories.Exchange{Client: "A", Node: "redis-1", Conn: 1, Words: []string{"DEL", "k"}, First: "1", Reply: "0"},
		), "A takes -; A frees A; A refused -"},
		{"members of a sorted set: taken, refused, extended, freed", inOrder(
			add("A", "EVAL d3 1 k aaaa 3000", "1"), add("B", "EVAL d3 1 k bbbb 3000", "nil"), add("A", "EVAL d3 1 k aaaa 4000", "1"),
			remove("B", "EVAL d4 1 k bbbb", "nil"), remove("A", "EVAL d4 1 k aaaa", "1"), add("B", "EVAL d3 1 k bbbb 3000", "1"),
		), "A takes -; B refused A; A extends A; B refused A; A frees A; B takes -"},
		{"members of a sorted set: looked at, without those that have ended", inOrder(
			add("A", "EVAL d3 1 k aaaa 3000", "1"), script("A", "local key = KEYS[1]\n"+membersNow+`redis.call("ZREMRANGEBYSCORE", key, "-inf", now)
return redis.call("ZSCORE", key, ARGV[1])`, "EVAL d5 1 k aaaa", "nil"), remove("A", "EVAL d4 1 k aaaa", "1"),
		), "A takes -; A looks A; A frees A"},
		{"members of a sorted set: one that has ended", inOrder(
			add("A", "EVAL d3 1 k aaaa 5", "1"), add("B", "EVAL d3 1 k bbbb 3000", "1"), remove("A", "EVAL d4 1 k aaaa", "nil"),
		), "A takes -; B takes -; A refused B"},
		{"members of a sorted set: two of them", inOrder( // who removes one of them does not remove the key
			add("A", "EVAL d3 1 k aaaa 3000", "1"), add("B", "EVAL d3 1 k bbbb 3000", "1"), remove("B", "EVAL d4 1 k bbbb", "1"), remove("A", "EVAL d4 1 k aaaa", "1"),
		), "A takes -; B unclear A; B unclear ?; A unclear ?"},
		{"members of a sorted set: another's is removed", inOrder(
			add("A", "EVAL d3 1 k aaaa 3000", "1"), remove("B", "EVAL d4 1 k bbbb", "1"),
		), "A takes -; B unclear A"},
		{"a field: taken, refused, extended, freed", inOrder(
			sent("A", "HSETEX k FNX PX 3000 FIELDS 1 owner aaaa", "1"), sent("B", "HSETEX k FNX PX 3000 FIELDS 1 owner bbbb", "0"), hSetEx("B", "EVAL d7 1 k bbbb 3000", "0"),
			hSetEx("A", "EVAL d7 1 k aaaa 4000", "1"), hDel("B", "EVAL d6 1 k bbbb", "0"), hDel("A", "EVAL d6 1 k aaaa", "1"), sent("A", "HGET k owner", "nil"), hDel("A", "EVAL d6 1 k aaaa", "0"),
		), "A takes -; B refused A; B refused A; A extends A; B refused A; A frees A; A looks -; A refused -"},
		{"a field: another's is removed after the lease", inOrder(
			sent("A", "HSETEX k FNX PX 5 FIELDS 1 owner aaaa", "1"), sent("B", "HSETEX k FNX EX 3 FIELDS 1 owner bbbb", "1"), sent("A", "HDEL k owner", "1"), sent("A", "HDEL k owner", "0"),
		), "A takes -; B takes -; A frees B; A refused -"},
		{"a field: written over", inOrder(
			sent("A", "HSETEX k FNX PX 3000 FIELDS 1 owner aaaa", "1"), sent("B", "HSETEX k FIELDS 1 owner bbbb", "1"), sent("A", "DEL k", "1"),
		), "A takes -; B overwrites A; A frees B"},
		{"a field: there is another one", inOrder(
			sent("A", "HSETEX k FNX PX 3000 FIELDS 1 owner aaaa", "1"), sent("B", "HSETEX k FNX PX 3000 FIELDS 1 other bbbb", "1"), sent("A", "HDEL k owner", "1"), sent("A", "HGET k owner", "nil"),
		), "A unclear -; B unclear ?; A unclear ?; A looks ?"},
		{"a field: there may be others", inOrder(
			sent("A", "HSETEX k FNX PX 3000 FIELDS 1 owner aaaa", "1"), sent("B", "HSET k other bbbb", "1"), hDel("A", "EVAL d6 1 k aaaa", "1"), sent("A", "DEL k", "1"),
		), "A unclear -; B unclear ?; A unclear ?; A frees ?"},
		{"a field: two at once, one that must be there, and a script that does not compare", inOrder(
			sent("A", "HSETEX k PX 3000 FIELDS 2 a 1 b 2", "1"), sent("A", "HSETEX k FXX PX 3000 FIELDS 1 a 1", "1"),
			script("A", `return redis.call('HSETEX', KEYS[1], 'FXX', 'PX', ARGV[2], 'FIELDS', 1, 'a', ARGV[1])`, "EVAL d8 1 k aaaa 3000", "1"),
		), "A unclear -; A unclear ?; A unclear ?"},
		{"a field: a script that compares another one", inOrder(
			sent("A", "HSETEX k FNX PX 3000 FIELDS 1 owner aaaa", "1"), script("A", strings.Replace(compareAndHDel, "owner", "other", 1), "EVAL d9 1 k aaaa", "1"),
		), "A unclear -; A unclear ?"},
		{"members of a sorted set: nobody tells what time it is", inOrder(twisted(membersNow, "local now = tonumber(ARGV[1])\n")), "A unclear -"},
		{"members of a sorted set: the key ends otherwise", inOrder(twisted("[2]\n", "[2] + 1000\n")), "A unclear -"},
		{"members of a sorted set: others are purged", inOrder(twisted(`"-inf", now`, `"-inf", long`)), "A unclear -"},
		{"members of a sorted set: the argument is changed", inOrder(twisted("redis.call(\"ZREM", "long = long * 1000\nredis.call(\"ZREM")), "A unclear -"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, e := range effects.Of(tt.x, 0) {
				of, db := "-", ""
				switch {
				case e.Of == effects.NotKnown:
					of = "?"
				case e.Of >= 0:
					of = tt.x[e.Of].Client
				}
				if e.DB != 0 {
					db = fmt.Sprintf("@%d", e.DB)
				}
				got = append(got, fmt.Sprintf("%s%s %s %s", e.Client, db, e.Kind, of))
			}
			if text := strings.Join(got, "; "); text != tt.want {
				t.Errorf("got  %s\nwant %s", text, tt.want)
			}
		})
	}
}

// TestDatabaseOfEffects checks which database a connection is taken to use: the one that is said if its first
// commands were not kept, and else the one that it has selected.
func TestDatabaseOfEffects(t *testing.T) {
	for first, want := range map[int]int{1: 0, 4: 3} {
		x := inOrder(sent("A", "SET k a NX PX 1500", "OK"), sent("A", "SELECT 5", "OK"), sent("A", "GET k", ""))
		for i := range x {
			x[i].Seq = first + i
		}
		got := effects.Of(x, 3)
		if len(got) != 2 || got[0].DB != want || got[1].DB != 5 {
			t.Errorf("first command %d: %+v, want databases %d and 5", first, got, want)
		}
	}
}

func TestEffectsTellValueAndTTL(t *testing.T) {
	setNX := `if (redis.call('setnx', KEYS[1], ARGV[1]) == 1) then
  redis.call('expire', KEYS[1], tonumber(ARGV[2]))
  return true
end
return false`
	for _, tt := range []struct {
		x     histories.Exchange
		value string
		ttl   time.Duration
	}{
		{sent("A", "SET k a NX PX 1500", "OK"), "a", 1500 * time.Millisecond},
		{sent("A", "SET k a EX 2 NX", "OK"), "a", 2 * time.Second},
		{sent("A", "SETNX k a", "1"), "a", histories.NoTTL},
		{sent("A", "PSETEX k 20 a", "OK"), "a", 20 * time.Millisecond},
		{script("A", setNX, "EVAL d1 1 k a 3", "1"), "a", 3 * time.Second},
		{sent("A", "HSETEX k FNX PX 1500 FIELDS 1 PX a", "1"), "a", 1500 * time.Millisecond},
		{sent("A", "HSETEX k FNX EX 2 FIELDS 1 owner a", "1"), "a", 2 * time.Second},
		{sent("A", "HSETEX k FNX FIELDS 1 owner a", "1"), "a", histories.NoTTL},
		{sent("A", "HSETEX k PXAT 1500 FIELDS 1 owner a", "1"), "a", 0},
		{script("A", `return redis.call('HSETEX', KEYS[1], 'FNX', 'PX', ARGV[2], 'FIELDS', '1', 'owner', ARGV[1])`, "EVAL d1 1 k a 30", "1"), "a", 30 * time.Millisecond},
		{script("A", `local r = redis.call("SET",KEYS[1],ARGV[1],"NX","PX",ARGV[2]);redis.call("GET",KEYS[1]);return r`, "EVAL d1 1 k a 30", "OK"), "a", 30 * time.Millisecond},
		{script("A", addMember, "EVAL d1 1 k a 30", "1"), "a", 30 * time.Millisecond},
		{script("A", `redis.call('HINCRBY', KEYS[1], ARGV[1], 1) redis.call('PEXPIRE', KEYS[1], ARGV[2]) return 1`, "EVAL d1 1 k a 30", "1"), "", 30 * time.Millisecond},
	} {
		got := effects.Of(inOrder(tt.x), 0)
		if len(got) != 1 || got[0].Kind != effects.Takes || got[0].Value != tt.value || got[0].TTL != tt.ttl {
			t.Errorf("%v: %+v, want %q for %v", tt.x.Words, got, tt.value, tt.ttl)
		}
	}
}
