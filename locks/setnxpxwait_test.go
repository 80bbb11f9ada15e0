package locks_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/alicebob/miniredis/v2/server"

	"github.com/lockbench/lockbench/locks"
)

// WAIT must come on the connection that wrote: on another it confirms nothing.
func TestWaitIsPinned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes, env := faultyEnv(t, 1)
		takeIdle(t, env.Nodes[0])
		seen := follow(nodes[0])
		seen.answer("WAIT", acks(1))
		if _, err := constructor("setnx-px-wait")(env).Acquire(t.Context(), lockKey, time.Second); err != nil {
			t.Fatal(err)
		}
		if n := seen.connections(); n != 1 {
			t.Errorf("%d connections were used", n)
		}
		if got := seen.names(); got != "SET WAIT" {
			t.Errorf("commands: %s", got)
		}
	})
}

// WAIT comes on a connection that wrote nothing, also if those of the pool are idle.
func TestWaitElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes, env := faultyEnv(t, 1)
		takeIdle(t, env.Nodes[0])
		seen := follow(nodes[0])
		seen.answer("WAIT", acks(1))
		if _, err := constructor("setnx-px-wait-elsewhere")(env).Acquire(t.Context(), lockKey, time.Second); err != nil {
			t.Fatal(err)
		}
		if n := seen.connections(); n != 2 {
			t.Errorf("%d connections were used", n)
		}
		if got := seen.names(); got != "SET WAIT" {
			t.Errorf("commands: %s", got)
		}
	})
}

func acks(n int) func(*server.Peer) bool {
	return func(peer *server.Peer) bool { peer.WriteInt(n); return true }
}

// An acquire that no replica confirmed removes its key and is no refusal.
func TestWaitFails(t *testing.T) {
	for _, tt := range []struct {
		name    string
		step    func(node *faulty, seen *script)
		wait    bool // WAIT itself failed
		release bool // so did the clean-up
	}{
		{"no acks", func(_ *faulty, seen *script) { seen.answer("WAIT", acks(0)) }, false, false},
		{"WAIT refused", func(_ *faulty, seen *script) {
			seen.answer("WAIT", func(peer *server.Peer) bool { peer.WriteError("ERR unknown command"); return true })
		}, true, false},
		{"reply of WAIT lost", func(node *faulty, seen *script) {
			seen.once("WAIT", func() { node.swallow.Store(1) })
		}, true, false},
		{"connection lost", func(node *faulty, seen *script) {
			seen.once("WAIT", func() { node.down.Store(true) })
		}, false, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				nodes, env := faultyEnv(t, 1)
				tt.step(nodes[0], follow(nodes[0]))
				ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
				defer cancel()
				held, err := constructor("setnx-px-wait")(env).Acquire(ctx, lockKey, time.Second)
				var failed *locks.UnreplicatedError
				if held != nil || !errors.As(err, &failed) || locks.Classify(err) != locks.Indefinite {
					t.Fatalf("acquire answered %v, %v; want an indefinite UnreplicatedError", held, err)
				}
				if (failed.Wait != nil) != tt.wait || (failed.Release != nil) != tt.release {
					t.Errorf("error is %v; want one of WAIT: %v, of the clean-up: %v", failed, tt.wait, tt.release)
				}
				if left := nodes[0].Exists(lockKey); left != tt.release {
					t.Errorf("key left: %v, want %v", left, tt.release)
				}
			})
		})
	}
}

// A refused SET is not waited for, and nothing is cleaned up.
func TestWaitTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes, env := faultyEnv(t, 1)
		set(t, nodes[0], "other")
		seen := follow(nodes[0])
		if _, err := constructor("setnx-px-wait")(env).Acquire(t.Context(), lockKey, time.Second); !errors.Is(err, locks.ErrTaken) {
			t.Errorf("acquire answered %v, want ErrTaken", err)
		}
		if got := seen.names(); got != "SET" {
			t.Errorf("commands: %s", got)
		}
	})
}
