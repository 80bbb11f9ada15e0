package locks

import (
	"context"
	"time"
)

// NewExtendLater returns the lock extend-later, whose deadline only ever moves to later.
//
//	acquire, release, extend  as setnx-px-lua
//
// It is setnx-px-lua whose client takes an extend for something that makes a lease longer, and
// keeps the later of the two deadlines.
//
// Broken: a holder that extends by less than is left has shortened its lease, and is told that
// it has the longer one (P70).
func NewExtendLater(env Env) Locker {
	lock := newSetNXPX(env, compareAndDelete)
	lock.extend = func(ctx context.Context, l *singleLease, ttl time.Duration) error {
		before := l.deadline
		err := extendOwn(ctx, l, ttl)
		if before.After(l.deadline) {
			l.deadline = before
		}
		return err
	}
	return lock
}
