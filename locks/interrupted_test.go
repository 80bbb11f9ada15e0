package locks_test

import (
	"context"
	"io"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockbench/lockbench/internal/libraries"
	"github.com/lockbench/lockbench/locks"
)

// A client whose first reply is lost gives up. One TTL later its attempt must have
// left no key behind; a lock that sets no TTL does, or sets it in a second command (P01,
// P02).
func TestInterruptedAcquire(t *testing.T) {
	const key, ttl = "orders/42", time.Second
	// They say that the lock is taken when they cannot know it: P24, P26.
	liars := []string{"redlock-partial-cleanup", "lua-uuid", "reentrant-local", "getset", "lua-setnx-expire", "renew-naive", "renew-naive-early", "redisson-redlock"}
	leaveOne := []string{"setnx", "setnx-expire", "setnx-timestamp-del", "getset"}
	for _, spec := range libraries.Catalogue() {
		if spec.Name == "lua-uuid-one-try" {
			continue // it sends nothing at all
		}
		if spec.Promises.Endless {
			continue // it does not give up
		}
		t.Run(spec.Name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				nodes, env := faultyEnv(t, spec.Masters)
				for _, node := range nodes {
					node.swallow.Store(1)
				}
				ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
				defer cancel()
				lock := spec.New(env)
				if closer, ok := lock.(io.Closer); ok {
					defer closer.Close()
				}
				held, err := lock.Acquire(ctx, key, ttl)
				liar := slices.Contains(liars, spec.Name)
				if err == nil || (locks.Classify(err) == locks.Refused) != liar {
					t.Fatalf("acquire answered %v, %v; want an indefinite error", held, err)
				}
				time.Sleep(ttl)
				for i, node := range nodes {
					left := node.Exists(key)
					if broken := slices.Contains(leaveOne, spec.Name); left != broken {
						t.Errorf("node %d: key left after one TTL is %v, want %v", i+1, left, broken)
					}
				}
			})
		})
	}
}
