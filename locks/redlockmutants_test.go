package locks_test

import (
	"context"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockbench/lockbench/locks"
)

// lateConn hands one reply over late.
type lateConn struct {
	net.Conn
	next     *atomic.Int64 // by how much the next reply is late
	paused   bool          // the client is: its read does not time out meanwhile
	deadline time.Time
}

func (c *lateConn) SetReadDeadline(t time.Time) error {
	c.deadline = t
	return c.Conn.SetReadDeadline(t)
}

func (c *lateConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	late := time.Duration(c.next.Swap(0))
	if left := time.Until(c.deadline); late > left && !c.paused && !c.deadline.IsZero() {
		time.Sleep(left)
		return 0, os.ErrDeadlineExceeded
	}
	time.Sleep(late)
	return n, err
}

// P23: n4 and n5 are taken, and the reply of n3 is so late that all keys have expired
// when it completes the majority. By then another client has the lock.
func TestRedlockSlowMajority(t *testing.T) {
	for _, tt := range []struct {
		name   string
		lock   func(locks.Env) locks.Locker
		paused bool
		both   bool // believe that they hold the lock
	}{
		{"redlock, late reply", constructor("redlock"), false, false},
		{"redlock, paused client", constructor("redlock"), true, false},
		{"redlock-no-validity, late reply", constructor("redlock-no-validity"), false, true},
		{"redlock-no-validity, paused client", constructor("redlock-no-validity"), true, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				nodes, a := faultyEnv(t, 5)
				b := seeded("B")
				for i, node := range nodes {
					b.Nodes = append(b.Nodes, node.client(t))
					if i > 2 {
						spoil(t, node, a.Nodes[i], 't')
					}
				}
				var late atomic.Int64
				a.Nodes[2] = locks.NewClient(func(ctx context.Context) (net.Conn, error) {
					conn, err := nodes[2].dial(ctx)
					return &lateConn{Conn: conn, next: &late, paused: tt.paused}, err
				})
				t.Cleanup(func() { _ = a.Nodes[2].Close() })
				if err := a.Nodes[2].Ping(t.Context()).Err(); err != nil {
					t.Fatal(err)
				}
				late.Store(int64(redTTL + time.Second))

				type result struct {
					held locks.Lease
					err  error
				}
				done := make(chan result)
				go func() {
					held, err := tt.lock(a).Acquire(t.Context(), redKey, redTTL)
					done <- result{held, err}
				}()
				synctest.Wait()
				time.Sleep(redTTL)
				nodes[3].Del(redKey)
				nodes[4].Del(redKey)
				theirs, err := constructor("redlock")(b).Acquire(t.Context(), redKey, lasting)
				if err != nil {
					t.Fatalf("acquire after the expiry: %v", err)
				}
				got := <-done
				if believes := got.err == nil; believes != tt.both {
					t.Fatalf("the slow acquire answered %v, %v; want success %v", got.held, got.err, tt.both)
				}
				if err := theirs.(locks.Verifier).Verify(t.Context()); err != nil {
					t.Errorf("verify by the other client: %v", err)
				}
				if tt.both && (!got.held.Deadline().After(time.Now()) || !theirs.Deadline().After(time.Now())) {
					t.Error("one of the leases is over by its deadline")
				}
			})
		})
	}
}

// It waits as long as its context lets it, and not longer.
func TestRedlockNoValidityWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes, env := faultyEnv(t, 5)
		spoil(t, nodes[2], env.Nodes[2], 'h')
		ctx, cancel := context.WithTimeout(t.Context(), 2*redTTL)
		defer cancel()
		start := time.Now()
		held, err := constructor("redlock-no-validity")(env).Acquire(ctx, redKey, redTTL)
		if err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); took != 2*redTTL {
			t.Errorf("acquire took %v, want %v", took, 2*redTTL)
		}
		if got := time.Until(held.Deadline()); got != 3958*time.Millisecond {
			t.Errorf("the lease is told to last %v from the last answer, want 3.958s", got)
		}
		if keys := ownKeys(nodes); keys != "-----" {
			t.Errorf("keys are on %s; all should have expired", keys)
		}
	})
}

// Where no answer is slow it is as good as redlock.
func TestRedlockNoValidityElsewhere(t *testing.T) {
	for _, tt := range redlockAcquires() {
		if strings.ContainsAny(tt.nodes, "lh") {
			continue
		}
		t.Run(tt.name, func(t *testing.T) { tt.check(t, constructor("redlock-no-validity")) })
	}
}

// P24: a failed acquire leaves keys where SET's answer was lost, and only there.
func TestRedlockPartialCleanup(t *testing.T) {
	different := map[string]redlockAcquire{
		"taken, and the lost SET was removed": {nodes: "tttl.", want: "1 of 5 nodes said yes, 3 no", took: nodeTimeout, left: "---x-"},
		// It does not wait for the node again.
		"taken, and a SET may still be under way": {nodes: "ttth.", want: "1 of 5 nodes said yes, 3 no", took: nodeTimeout, left: "---x-"},
		"orphans are removed":                     {nodes: "ttll.", want: "1 of 5 nodes said yes, 2 no", took: nodeTimeout, left: "--xx-"},
		"all lost":                                {nodes: "lllll", want: "0 of 5 nodes said yes", took: nodeTimeout, left: "xxxxx"},
	}
	for _, tt := range redlockAcquires() {
		if other, ok := different[tt.name]; ok {
			tt = redlockAcquire{tt.name, other.nodes, other.want, other.took, other.left}
			delete(different, tt.name)
		}
		if tt.want != "" { // it takes every failure for a refusal
			tt.want = "taken"
		}
		t.Run(tt.name, func(t *testing.T) { tt.check(t, constructor("redlock-partial-cleanup")) })
	}
	for name := range different {
		t.Errorf("there is no acquire %q", name)
	}
}

// What is left behind keeps everybody out, until its TTL.
func TestRedlockOrphans(t *testing.T) {
	for _, tt := range []struct {
		name    string
		lock    func(locks.Env) locks.Locker
		outcome locks.Outcome
		next    string // what the next client gets
	}{
		{"redlock", constructor("redlock"), locks.Indefinite, "held"},
		{"redlock-partial-cleanup", constructor("redlock-partial-cleanup"), locks.Refused, "taken"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				nodes, a := faultyEnv(t, 5)
				b := seeded("B")
				for i, node := range nodes {
					b.Nodes = append(b.Nodes, node.client(t))
					if i < 3 {
						spoil(t, node, a.Nodes[i], 'l')
					}
				}
				if _, err := tt.lock(a).Acquire(t.Context(), redKey, redTTL); locks.Classify(err) != tt.outcome || err == nil {
					t.Fatalf("acquire answered %v, want an error that is %v", err, tt.outcome)
				}
				next := func() string {
					held, err := constructor("redlock")(b).Acquire(t.Context(), redKey, redTTL)
					if err != nil {
						if locks.Classify(err) == locks.Refused {
							return "taken"
						}
						return err.Error()
					}
					if err := held.Release(t.Context()); err != nil {
						t.Error(err)
					}
					return "held"
				}
				if got := next(); got != tt.next {
					t.Errorf("at once the next client got %s, want %s", got, tt.next)
				}
				time.Sleep(redTTL)
				if got := next(); got != "held" {
					t.Errorf("after the TTL the next client got %s, want held", got)
				}
			})
		})
	}
}

// P19: with the answers of a minority it goes on, which the others do not know of when they
// are back.
func TestRedlockAnswersOnly(t *testing.T) {
	different := map[string]redlockAcquire{
		"majority down": {nodes: "d.dd.", left: "-x--x"},
		"taken, and cut when something may have been sent": {nodes: "ttt.c", want: "1 of 4 nodes said yes, 3 no", left: "-----"},
		"taken, and a SET may still be under way":          {nodes: "ttth.", want: "1 of 4 nodes said yes, 3 no", took: 2 * nodeTimeout, left: "---x-"},
		"orphans are removed":                              {nodes: "ttll.", want: "taken", took: nodeTimeout, left: "-----"},
	}
	for _, tt := range redlockAcquires() {
		if other, ok := different[tt.name]; ok {
			tt = redlockAcquire{tt.name, other.nodes, other.want, other.took, other.left}
		}
		t.Run(tt.name, func(t *testing.T) { tt.check(t, constructor("redlock-answers-only")) })
	}
}
