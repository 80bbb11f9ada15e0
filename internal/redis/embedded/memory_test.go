package embedded

import (
	"strings"
	"testing"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"
)

// TestNeedsMemory compares the list of commands with the flags that a real server gives.
func TestNeedsMemory(t *testing.T) {
	actual, m := dialReal(t), plainServer(t)
	compared := 0
	for _, name := range strings.Fields(strings.Trim(actual.do("COMMAND", "LIST"), "[]")) {
		name = strings.ToUpper(strings.Trim(name, `"`))
		if strings.Contains(name, "|") || !m.Server().IsRegisteredCommand(name) {
			continue
		}
		compared++
		want := strings.Contains(actual.do("COMMAND", "INFO", name), "+denyoom")
		if got := needsMemory(name); got != want {
			t.Errorf("%s needs memory: %v, want %v", name, got, want)
		}
	}
	if compared < 100 {
		t.Errorf("only %d commands were compared", compared)
	}
}

// fullServer is a server whose memory can be full, in real time.
func fullServer(t *testing.T) (*miniredis.Miniredis, *memoryLimit) {
	t.Helper()
	m := plainServer(t)
	s, limit := newScripts(m, new(Shared)), new(memoryLimit)
	m.Server().SetPreHook(func(p *server.Peer, cmd string, args ...string) bool {
		return limit.refuses(m.Server(), p, cmd, args) || s.serve(p, cmd, args)
	})
	return m, limit
}

// TestFullMemory compares what is refused, and how, with a real server.
func TestFullMemory(t *testing.T) {
	actual := dialReal(t)
	m, limit := fullServer(t)
	fake := dial(t, m)
	same := func(args ...string) {
		t.Helper()
		if got, want := fake.do(args...), actual.do(args...); got != want {
			t.Errorf("%q: got %s, want %s", args, got, want)
		}
	}
	eval := func(script string) { t.Helper(); same("EVAL", script, "0") }
	for _, key := range []string{"a", "b", "c", "d", "e"} {
		same("SET", key, "1", "PX", "600000")
	}
	same("HSET", "hash", "f", "1", "g", "2")

	actual.want("+OK", "CONFIG", "SET", "maxmemory", "1")
	limit.full.Store(true)

	same("GET", "a")
	same("SET", "a", "2")
	same("SET", "new", "2", "NX", "PX", "1000")
	same("INCR", "a")
	same("HSET", "hash", "f", "2")
	same("PEXPIRE", "a", "500000")
	same("DEL", "b")
	same("HDEL", "hash", "g")
	same("GETDEL", "c")
	same("PUBLISH", "channel", "free")
	eval("return redis.call('GET', 'a')")
	eval("return redis.call('SET', 'a', '2')")
	eval("return redis.pcall('SET', 'a', '2')")
	eval("return redis.call('PEXPIRE', 'a', 500000)")
	eval(compareAndDelete + " -- no keys")
	same("EVAL", compareAndDelete, "1", "d", "1")
	// A script that has written may go on.
	eval("redis.call('DEL', 'e') return redis.call('SET', 'e', '2')")
	eval("redis.pcall('SET', 'e', '3') return redis.call('GET', 'e')")
	eval("return redis.call('INCR', 'e')")
	same("SCRIPT", "LOAD", "return 1")
	// A transaction is refused command by command, and then as a whole.
	same("WATCH", "a")
	same("MULTI")
	same("DEL", "a")
	same("GET", "a")
	same("EXEC")
	same("EXISTS", "a")
	same("MULTI")
	same("EXEC")
	same("MULTI")
	same("GET", "a")
	same("DISCARD")

	actual.want("+OK", "CONFIG", "SET", "maxmemory", "0")
	limit.full.Store(false)
	same("SET", "a", "2")
	same("MULTI")
	same("INCR", "a")
	same("EXEC")
	eval("return redis.call('SET', 'a', '2')")
}
