package locks_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench/internal/testkit/locktest"
	"github.com/lockbench/lockbench/locks"
)

// difference is a command that miniredis answers otherwise than redis-server.
type difference struct {
	command  *regexp.Regexp
	embedded string // how miniredis's answer begins
	server   string // how redis-server's answer begins
	reason   string
	seen     bool
}

// knownDifferences lists what is accepted, most specific first. No lock sends any of
// these commands.
func knownDifferences() []*difference {
	row := func(command, embedded, server, reason string) *difference {
		return &difference{command: regexp.MustCompile(command), embedded: embedded, server: server, reason: reason}
	}
	return []*difference{
		row(`^SET .* KEEPTTL`, "", "error ERR syntax error",
			"miniredis accepts KEEPTTL together with a new TTL, or finds another fault first"),
		row(`^SET .* NX .*XX|^SET .* XX .*NX`, "", "error ERR syntax error",
			"miniredis accepts NX together with XX, or finds another fault first"),
		row(`^SET .* (EX|PX)`, "error", "error",
			"both refuse a bad TTL; they differ in words and in which fault they find first"),
		row(`^SET .* (EX|PX)`, "error", "",
			"an option that is given twice: redis-server takes the last, miniredis refuses"),
		row(`^P?EXPIRE \S+ 9223372036854775807$`, "int64", "error ERR invalid expire time",
			"miniredis does not check that the end of the lease can be counted"),
		row(`^EVAL `, "error", "error",
			"a command that fails in a script: the texts differ"),
	}
}

// TestMiniredisAnswersLikeRedis sends the same random lock commands to miniredis and
// to a redis-server: the default backend must not lie about the locks.
func TestMiniredisAnswersLikeRedis(t *testing.T) {
	path := locktest.NeedRedis(t)
	const seed, steps = 1, 3000
	m := miniredis.NewMiniRedis()
	m.ClockTTL(true)
	t.Cleanup(m.Close)
	embedded := newPeer(t, func(context.Context) (net.Conn, error) { return m.Dial() })
	server := newPeer(t, startRedis(t, path))

	rng := rand.New(rand.NewPCG(seed, seed))
	compared, differed := 0, 0
	differences := knownDifferences()
	var trace []string
	for range steps {
		for _, c := range randomStep(rng) {
			trace = append(trace, c.String())
			if c.sleep > 0 {
				time.Sleep(c.sleep)
				continue
			}
			got, want := embedded.do(t, c), server.do(t, c)
			compared++
			if same(c, got, want) {
				continue
			}
			if !isKnown(differences, c, got, want) {
				t.Errorf("seed %d, reply %d: %s\nminiredis    %s\nredis-server %s\nbefore it:\n%s",
					seed, compared, c, got, want, strings.Join(trace[max(0, len(trace)-20):len(trace)-1], "\n"))
			}
			// What they hold may differ from here on: start again.
			differed++
			embedded.reset(t)
			server.reset(t)
			break
		}
	}
	t.Logf("%d replies compared, %d differ", compared, differed)
	for _, d := range differences {
		if !d.seen {
			t.Logf("not seen with this server: %s", d.reason)
		}
	}
}

// peer is one server seen through two connections, which WATCH needs.
type peer struct{ conns [2]*redis.Conn }

func newPeer(t *testing.T, dial func(ctx context.Context) (net.Conn, error)) *peer {
	client := locks.NewClient(dial)
	t.Cleanup(func() { _ = client.Close() })
	p := &peer{}
	for i := range p.conns {
		p.conns[i] = client.Conn()
		t.Cleanup(func() { _ = p.conns[i].Close() })
	}
	return p
}

// answer is one reply: a value, or the text of an error.
type answer struct {
	value any
	err   string
}

func (a answer) String() string {
	if a.err != "" {
		return "error " + a.err
	}
	return fmt.Sprintf("%T %v", a.value, a.value)
}

func (p *peer) do(t *testing.T, c step) answer {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	value, err := p.conns[c.conn].Do(ctx, c.args...).Result()
	switch {
	case err == nil, errors.Is(err, redis.Nil):
		return answer{value: value}
	default:
		return answer{err: err.Error()}
	}
}

// reset ends what is under way and removes every key.
func (p *peer) reset(t *testing.T) {
	t.Helper()
	for conn := range p.conns {
		p.do(t, step{conn: conn, args: []any{"DISCARD"}}) // an error if there is no MULTI
		p.do(t, step{conn: conn, args: []any{"UNWATCH"}})
	}
	if a := p.do(t, step{args: []any{"FLUSHALL"}}); a.err != "" {
		t.Fatal(a)
	}
}

// step is one command on one of the two connections, or a pause.
type step struct {
	conn  int
	args  []any
	sleep time.Duration
}

func (s step) String() string {
	if s.sleep > 0 {
		return fmt.Sprintf("(sleep %v)", s.sleep)
	}
	return fmt.Sprintf("%d> %s", s.conn+1, s.command())
}

func (s step) command() string { return strings.TrimSuffix(fmt.Sprintln(s.args...), "\n") }

func same(c step, a, b answer) bool {
	if ta, ok := a.value.(int64); ok && len(c.args) > 0 && c.args[0] == "PTTL" {
		tb, ok := b.value.(int64)
		if !ok || ta < 0 || tb < 0 {
			return ok && ta == tb
		}
		// The servers got the commands at different moments, on a busy machine.
		const tolerance = 2000
		return -tolerance < ta-tb && ta-tb < tolerance
	}
	return a.String() == b.String()
}

func isKnown(differences []*difference, c step, embedded, server answer) bool {
	for _, d := range differences {
		if d.command.MatchString(c.command()) &&
			strings.HasPrefix(embedded.String(), d.embedded) && strings.HasPrefix(server.String(), d.server) {
			d.seen = true
			return true
		}
	}
	return false
}

// randomStep draws one command, or a few that belong together.
func randomStep(rng *rand.Rand) []step {
	key := pick(rng, "k1", "k2", "k3")
	value := pick(rng, "v1", "v2", "7", "")
	one := func(args ...any) []step { return []step{{conn: rng.IntN(2), args: args}} }
	switch rng.IntN(23) {
	case 0, 1, 2, 3, 4:
		return one(append([]any{"SET", key, value}, setOptions(rng)...)...)
	case 5:
		return one("SETNX", key, value)
	case 6, 7:
		return one("GET", key)
	case 8:
		return one("DEL", key)
	case 9:
		return one("EXPIRE", key, pick(rng, "100", "200", "0", "-1", rarely(rng, "100", "9223372036854775807")))
	case 10:
		return one("PEXPIRE", key, pick(rng, "100000", "200000", "0", "-5", "1.5", rarely(rng, "100000", "9223372036854775807")))
	case 11, 12:
		return one("PTTL", key)
	case 13:
		return one("PERSIST", key)
	case 14:
		return one("EVAL", locks.CompareAndDeleteLua, 1, key, value)
	case 15:
		return one("EVAL", locks.FencedAcquireLua, 2, key, pick(rng, "f1", "f2", "k1"), value, pick(rng, "100000", "200000"))
	case 16:
		return one("INCR", pick(rng, key, "f1", "f2"))
	case 17, 18:
		return transaction(rng, key, value)
	case 19:
		return one("EVAL", locks.CompareAndPExpireLua, 1, key, value, pick(rng, "100000", "200000"))
	case 20:
		return one("EVAL", locks.SetNXExpireLua, 1, key, value, pick(rng, "100", "200", rarely(rng, "100", "0.5")))
	case 21:
		return one("GETSET", key, value)
	default:
		if rng.IntN(10) > 0 {
			return one("EXISTS", key)
		}
		// A lease that ends.
		return []step{
			{args: []any{"SET", key, value, "PX", "5"}},
			{sleep: 20 * time.Millisecond},
			{args: []any{"PTTL", key}},
			{args: []any{"SET", key, "next", "NX", "PX", "100000"}},
			{args: []any{"EVAL", locks.CompareAndDeleteLua, 1, key, value}},
		}
	}
}

func setOptions(rng *rand.Rand) []any {
	const year2100 = 4102444800 // seconds
	all := [][]any{
		{"NX"}, {"XX"}, {"GET"}, {"KEEPTTL"},
		{"EX", "100"}, {"PX", "100000"}, {"EXAT", year2100}, {"PXAT", year2100 * 1000},
	}
	if rng.IntN(10) == 0 { // also what no server should accept
		all = append(all, []any{"EX", "0"}, []any{"PX", "-1"}, []any{"PX", "x"}, []any{"PX"})
	}
	rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	options := slices.Concat(all[:rng.IntN(4)]...)
	has := func(option string) bool { return slices.Contains(options, any(option)) }
	if has("NX") && has("XX") || has("KEEPTTL") && len(options) > 1 {
		return rarely(rng, []any{"NX", "PX", "100000"}, options)
	}
	return options
}

// transaction releases a lock by WATCH, as setnx-px-watch does, and is disturbed at times.
func transaction(rng *rand.Rand, key, value string) []step {
	const holder, other = 0, 1
	steps := []step{{conn: holder, args: []any{"WATCH", key}}, {conn: holder, args: []any{"GET", key}}}
	disturb := func() {
		switch rng.IntN(5) {
		case 0:
			steps = append(steps, step{conn: other, args: []any{"SET", key, "other"}})
		case 1:
			steps = append(steps, step{conn: other, args: []any{"DEL", key}})
		case 2:
			steps = append(steps, step{conn: other, args: []any{"PEXPIRE", key, "150000"}})
		}
	}
	disturb()
	if rng.IntN(4) == 0 {
		return append(steps, step{conn: holder, args: []any{"UNWATCH"}})
	}
	steps = append(steps, step{conn: holder, args: []any{"MULTI"}})
	disturb()
	steps = append(steps, step{conn: holder, args: []any{"DEL", key}}, step{conn: holder, args: []any{"SET", key, value, "NX", "PX", "100000"}})
	if rng.IntN(5) == 0 {
		return append(steps, step{conn: holder, args: []any{"DISCARD"}})
	}
	return append(steps, step{conn: holder, args: []any{"EXEC"}}, step{conn: holder, args: []any{"GET", key}})
}

// rarely draws the second value one time in ten.
func rarely[T any](rng *rand.Rand, often, seldom T) T {
	if rng.IntN(10) == 0 {
		return seldom
	}
	return often
}

func pick[T any](rng *rand.Rand, from ...T) T { return from[rng.IntN(len(from))] }
