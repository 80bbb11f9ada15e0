package locks_test

import (
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockbench/lockbench/internal/wire"
	"github.com/lockbench/lockbench/locks"
)

// TestSentAgainOnTheSameConnection checks that an acquire whose answer is slow is sent once more on its connection, and
// takes the answer to the first for its own.
func TestSentAgainOnTheSameConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStand(t)
		link, dial := s.link("A")
		lock := s.over("A", dial, constructor("setnx-px-lua-again"))
		defer func() { _ = lock.(io.Closer).Close() }()
		link.FreezeOneWay(wire.Replies)
		time.AfterFunc(2500*time.Millisecond, func() { link.Thaw() })
		began := time.Now()
		held := s.acquire(lock, heldKey, time.Minute)
		if waited := time.Since(began); waited != 2500*time.Millisecond {
			t.Errorf("it waited %v, want 2.5s: the answer to the first command", waited)
		}
		s.release(held)
	})
}

// TestVoidKeepsConnections checks that the ninth call of a process finds no connection.
func TestVoidKeepsConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStand(t)
		lock := s.lock("A", constructor("setnx-expire-void"))
		for range 4 {
			s.release(s.acquire(lock, heldKey, heldTTL))
		}
		began := time.Now()
		lease, err := lock.Acquire(t.Context(), heldKey, heldTTL)
		if lease != nil || locks.Classify(err) != locks.Indefinite || errors.Is(err, locks.ErrTaken) {
			t.Errorf("the ninth call answered %v, %v; want an indefinite error", lease, err)
		}
		if waited := time.Since(began); waited != 100*time.Second {
			t.Errorf("it waited %v, want 100s", waited)
		}
	})
}
