package locks_test

import (
	"errors"
	"testing"
	"time"

	"github.com/lockbench/lockbench/internal/wire"
	"github.com/lockbench/lockbench/locks"
)

// P26: a client of default options sends an acquire again whose reply got lost, and it meets
// its own key. One lock takes that for somebody else's, the other one takes it over.
func TestResend(t *testing.T) {
	const ttl = 4 * time.Second
	withLibrary(t, "setnx-px-lua-resend", func(a *adapted) {
		l := a.client("A")
		a.link("A", 0).DropReply(wire.Match{Names: []string{"SET"}}, wire.CloseConn)
		a.refused(l, ttl)
		if a.holders() != 1 {
			t.Error("the key is gone, want an orphan")
		}
		a.Sleep(ttl + time.Second)
		_ = a.acquire(l, ttl).Release(a.ctx)
	})
	withLibrary(t, "bsm-redislock-resend", func(a *adapted) {
		l := a.client("A")
		_ = a.acquire(l, ttl).Release(a.ctx) // so that the script is known
		a.link("A", 0).DropReply(wire.Match{Names: []string{"EVALSHA"}}, wire.CloseConn)
		held := a.acquire(l, ttl)
		if a.holders() != 1 {
			t.Error("the lock is held, and there is no key")
		}
		// Of a release that is sent again nobody can tell.
		a.link("A", 0).DropReply(wire.Match{Names: []string{"EVALSHA"}}, wire.CloseConn)
		if err := held.Release(a.ctx); !errors.Is(err, locks.ErrNotHeld) || a.holders() != 0 {
			t.Errorf("release whose reply got lost: %v, %d keys; it is known to be refused by what it has done itself", err, a.holders())
		}
	})
}
