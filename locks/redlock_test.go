package locks_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench/locks"
)

const (
	redKey = "orders/42"
	redTTL = 4 * time.Second
	// nodeTimeout is what Redlock gives a node at this TTL: 5 %.
	nodeTimeout = 200 * time.Millisecond
)

// spoil makes a node go wrong: c cut, its open connection breaks; d down, there is no
// connection; l lost, the next reply is; h hangs, every reply is lost; o out of memory,
// every command is refused with an error; t taken.
func spoil(t *testing.T, node *faulty, client *redis.Client, what byte) {
	t.Helper()
	switch what {
	case '.':
	case 'c':
		node.down.Store(true)
	case 'd':
		node.down.Store(true)
		if err := client.Ping(t.Context()).Err(); err == nil {
			t.Fatal("PING of a node that is down succeeded")
		}
	case 'l':
		node.swallow.Store(1)
	case 'h':
		node.swallow.Store(1 << 20)
	case 'o':
		node.SetError("OOM command not allowed when used memory > 'maxmemory'.")
	case 't':
		if err := node.Set(redKey, "another"); err != nil {
			t.Fatal(err)
		}
	default:
		t.Fatalf("no fault %q", what)
	}
}

// redlockAcquire is an acquire on nodes that may go wrong.
type redlockAcquire struct {
	name  string
	nodes string // one fault per node, see spoil
	want  string // "" for a lease, "taken", or a part of the indefinite error
	took  time.Duration
	left  string // which nodes hold this attempt's key afterwards
}

func redlockAcquires() []redlockAcquire {
	return []redlockAcquire{
		{name: "all free", nodes: ".....", left: "xxxxx"},
		{name: "minority down", nodes: "d.d..", left: "-x-xx"},
		{name: "majority down", nodes: "d.dd.", want: "2 of 5 nodes said yes, 0 no, 3 needed: node 1: dial: connection refused; node 3", left: "-----"},
		{name: "one node hangs", nodes: "..h..", took: nodeTimeout, left: "xxxxx"},
		{name: "minority taken", nodes: "tt...", left: "--xxx"},
		{name: "majority taken", nodes: "t.t.t", want: "taken", left: "-----"},
		{name: "taken, and down where nothing was sent", nodes: "tttdd", want: "taken", left: "-----"},
		{name: "taken, and cut when something may have been sent", nodes: "ttt.c", want: "1 of 5 nodes said yes, 3 no", left: "-----"},
		{name: "taken, and refused with an error", nodes: "tttoo", want: "taken", left: "-----"},
		{name: "taken, and the lost SET was removed", nodes: "tttl.", want: "taken", took: nodeTimeout, left: "-----"},
		{name: "taken, and a SET may still be under way", nodes: "ttth.", want: "1 of 5 nodes said yes, 3 no", took: 2 * nodeTimeout, left: "---x-"},
		{name: "orphans are removed", nodes: "ttll.", want: "1 of 5 nodes said yes, 2 no", took: nodeTimeout, left: "-----"},
		{name: "all lost", nodes: "lllll", want: "0 of 5 nodes said yes", took: nodeTimeout, left: "-----"},
	}
}

func TestRedlockAcquire(t *testing.T) {
	for _, tt := range redlockAcquires() {
		t.Run(tt.name, func(t *testing.T) { tt.check(t, constructor("redlock")) })
	}
}

func (a redlockAcquire) check(t *testing.T, lock func(locks.Env) locks.Locker) {
	synctest.Test(t, func(t *testing.T) {
		nodes, env := faultyEnv(t, len(a.nodes))
		for i := range nodes {
			spoil(t, nodes[i], env.Nodes[i], a.nodes[i])
		}
		start := time.Now()
		held, err := lock(env).Acquire(t.Context(), redKey, redTTL)
		took := time.Since(start)

		switch a.want {
		case "":
			if err != nil {
				t.Fatalf("acquire: %v", err)
			}
			// 1 % and 2 ms for drift, counted from the call.
			if want := start.Add(3958 * time.Millisecond); !held.Deadline().Equal(want) {
				t.Errorf("deadline is %v after the call, want 3.958s", held.Deadline().Sub(start))
			}
		case "taken":
			if !errors.Is(err, locks.ErrTaken) {
				t.Errorf("acquire answered %v, want ErrTaken", err)
			}
		default:
			if locks.Classify(err) != locks.Indefinite || err == nil || !strings.Contains(err.Error(), a.want) {
				t.Errorf("acquire answered %v,\nwant an indefinite error with %q", err, a.want)
			}
		}
		if took != a.took {
			t.Errorf("acquire took %v, want %v", took, a.took)
		}
		if left := ownKeys(nodes); left != a.left {
			t.Errorf("own keys are left on %s, want %s", left, a.left)
		}
	})
}

// ownKeys marks the nodes that hold a key which spoil did not set.
func ownKeys(nodes []*faulty) string {
	var marks strings.Builder
	for _, node := range nodes {
		value, err := node.Get(redKey)
		if err == nil && value != "another" {
			marks.WriteByte('x')
		} else {
			marks.WriteByte('-')
		}
	}
	return marks.String()
}

func TestRedlockReleaseAndVerify(t *testing.T) {
	type answer struct{ verify, release string } // "held", "not held" or "open"
	for _, tt := range []struct {
		name  string
		nodes string // '.' or a fault; 'e': the key has gone from the node
		want  answer
	}{
		{"all held", ".....", answer{"held", "held"}},
		{"minority gone", "ee...", answer{"held", "held"}},
		{"minority down", "dd...", answer{"held", "held"}},
		{"majority gone", "eee..", answer{"not held", "not held"}},
		{"majority taken", "ttt..", answer{"not held", "not held"}},
		{"gone or taken, rest down", "eetdd", answer{"not held", "not held"}},
		{"majority down", "ddd..", answer{"open", "open"}},
		{"undecided", "eeh..", answer{"open", "open"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				nodes, env := faultyEnv(t, len(tt.nodes))
				held, err := constructor("redlock")(env).Acquire(t.Context(), redKey, redTTL)
				if err != nil {
					t.Fatal(err)
				}
				for i := range nodes {
					if tt.nodes[i] == 'e' {
						nodes[i].Del(redKey)
						continue
					}
					spoil(t, nodes[i], env.Nodes[i], tt.nodes[i])
				}
				got := answer{
					verify:  heldOrNot(held.(locks.Verifier).Verify(t.Context())),
					release: heldOrNot(held.Release(t.Context())),
				}
				if got != tt.want {
					t.Errorf("verify and release answered %+v, want %+v", got, tt.want)
				}
			})
		})
	}
}

func heldOrNot(err error) string {
	switch {
	case err == nil:
		return "held"
	case errors.Is(err, locks.ErrNotHeld):
		return "not held"
	case locks.Classify(err) == locks.Indefinite:
		return "open"
	default:
		return err.Error()
	}
}

// A caller that gives up in the middle still cleans up.
func TestRedlockCancelledCallerCleansUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes, env := faultyEnv(t, 5)
		for _, node := range nodes {
			node.swallow.Store(1)
		}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(10*time.Millisecond, cancel)
		held, err := constructor("redlock")(env).Acquire(ctx, redKey, redTTL)
		if err == nil || locks.Classify(err) != locks.Indefinite {
			t.Errorf("acquire answered %v, %v; want an indefinite error", held, err)
		}
		if left := ownKeys(nodes); left != "-----" {
			t.Errorf("keys are left on %s", left)
		}
	})
}

// leapClock is a client's clock that jumps ahead after its first look.
type leapClock struct {
	clock
	looks int
	leap  time.Duration
}

func (c *leapClock) Now() time.Time {
	c.looks++
	if c.looks == 1 {
		return c.clock.Now()
	}
	return c.clock.Now().Add(c.leap)
}

// Time spent acquiring counts, by the client's own clock: the lease must not be over
// when the majority is there.
func TestRedlockValidity(t *testing.T) {
	for _, tt := range []struct {
		spent time.Duration
		ok    bool
	}{
		{3957 * time.Millisecond, true},
		{3958 * time.Millisecond, false}, // 4 s less 1 % and 2 ms
		{redTTL, false},
	} {
		t.Run(tt.spent.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				nodes, env := faultyEnv(t, 5)
				env.Clock = &leapClock{leap: tt.spent}
				_, err := constructor("redlock")(env).Acquire(t.Context(), redKey, redTTL)
				if ok := err == nil; ok != tt.ok {
					t.Errorf("acquire answered %v, want success %v", err, tt.ok)
				}
				if left := ownKeys(nodes) != "-----"; left != tt.ok {
					t.Errorf("keys left behind: %v, want %v", left, tt.ok)
				}
				if !tt.ok && (err == nil || !strings.Contains(err.Error(), "the answers took")) {
					t.Errorf("error %v does not say that it took too long", err)
				}
			})
		})
	}
}

func TestRedlockRefusesTTLWithinDrift(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, env := faultyEnv(t, 5)
		var input *locks.InputError
		if _, err := constructor("redlock")(env).Acquire(t.Context(), redKey, 2*time.Millisecond); !errors.As(err, &input) {
			t.Errorf("acquire for 2ms answered %v, want an InputError", err)
		}
	})
}

// Five goroutines start at the same instant: which of them runs first must not show.
func TestRedlockIsDeterministic(t *testing.T) {
	outcome := func() (text string) {
		synctest.Test(t, func(t *testing.T) {
			nodes, env := faultyEnv(t, 5)
			for i, what := range []byte("dtlh.") {
				spoil(t, nodes[i], env.Nodes[i], what)
			}
			_, err := constructor("redlock")(env).Acquire(t.Context(), redKey, redTTL)
			text = err.Error() + " " + ownKeys(nodes)
		})
		return text
	}
	first := outcome()
	for range 100 {
		if got := outcome(); got != first {
			t.Fatalf("outcomes differ:\n%s\n%s", first, got)
		}
	}
}
