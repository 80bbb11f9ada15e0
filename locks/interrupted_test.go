package locks_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockbench/lockbench/locks"
)

// A client whose first reply is lost gives up. One TTL later its attempt must have
// left no key behind; the lock that sets its TTL in a second command does (P02).
func TestInterruptedAcquire(t *testing.T) {
	const key, ttl = "orders/42", time.Second
	for _, spec := range locks.All() {
		t.Run(spec.Name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				nodes, env := faultyEnv(t, spec.Masters)
				for _, node := range nodes {
					node.swallow.Store(1)
				}
				ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
				defer cancel()
				held, err := spec.New(env).Acquire(ctx, key, ttl)
				if err == nil || locks.Classify(err) != locks.Indefinite {
					t.Fatalf("acquire answered %v, %v; want an indefinite error", held, err)
				}
				time.Sleep(ttl)
				for i, node := range nodes {
					left := node.Exists(key)
					if broken := spec.Name == "setnx-expire"; left != broken {
						t.Errorf("node %d: key left after one TTL is %v, want %v", i+1, left, broken)
					}
				}
			})
		})
	}
}
