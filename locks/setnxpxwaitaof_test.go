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

func synced(local, replicas int) func(*server.Peer) bool {
	return func(peer *server.Peer) bool {
		peer.WriteLen(2)
		peer.WriteInt(local)
		peer.WriteInt(replicas)
		return true
	}
}

// WAITAOF must come on the connection that wrote: on another it confirms nothing.
func TestWaitAOFIsPinned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes, env := faultyEnv(t, 1)
		takeIdle(t, env.Nodes[0])
		seen := follow(nodes[0])
		seen.answer("WAITAOF", synced(1, 0))
		if _, err := constructor("setnx-px-waitaof")(env).Acquire(t.Context(), lockKey, time.Second); err != nil {
			t.Fatal(err)
		}
		if n := seen.connections(); n != 1 {
			t.Errorf("%d connections were used", n)
		}
		if got := seen.names(); got != "SET WAITAOF" {
			t.Errorf("commands: %s", got)
		}
	})
}

// An acquire whose key is on no disk removes it, and is no refusal.
func TestWaitAOFFails(t *testing.T) {
	for _, tt := range []struct {
		name    string
		step    func(node *faulty, seen *script)
		wait    bool // WAITAOF itself failed
		release bool // so did the clean-up
	}{
		{"not synced", func(_ *faulty, seen *script) { seen.answer("WAITAOF", synced(0, 1)) }, false, false},
		{"no file", func(_ *faulty, seen *script) {
			seen.answer("WAITAOF", func(peer *server.Peer) bool { peer.WriteError("ERR appendonly is disabled"); return true })
		}, true, false},
		{"reply lost", func(node *faulty, seen *script) { seen.once("WAITAOF", func() { node.swallow.Store(1) }) }, true, false},
		{"connection lost", func(node *faulty, seen *script) { seen.once("WAITAOF", func() { node.down.Store(true) }) }, true, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				nodes, env := faultyEnv(t, 1)
				tt.step(nodes[0], follow(nodes[0]))
				ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
				defer cancel()
				held, err := constructor("setnx-px-waitaof")(env).Acquire(ctx, lockKey, time.Second)
				var failed *locks.UnsyncedError
				if held != nil || !errors.As(err, &failed) || locks.Classify(err) != locks.Indefinite {
					t.Fatalf("acquire answered %v, %v; want an indefinite UnsyncedError", held, err)
				}
				if (failed.Wait != nil) != tt.wait || (failed.Release != nil) != tt.release {
					t.Errorf("error is %v; want one of WAITAOF: %v, of the clean-up: %v", failed, tt.wait, tt.release)
				}
				if left := nodes[0].Exists(lockKey); left != tt.release {
					t.Errorf("key left: %v, want %v", left, tt.release)
				}
			})
		})
	}
}
