package locks

import (
	"context"
	"time"
)

func extendLaterSpec() Spec {
	return Spec{
		Name:     "extend-later",
		Title:    "setnx-px-lua whose deadline only ever moves to later",
		Source:   "mutant of setnx-px-lua",
		Masters:  1,
		Variant:  "setnx-px-lua",
		Extends:  true,
		HasToken: true,
		Promises: Promises{ReleasesRefused: true},
		New:      newExtendLater,
	}
}

// newExtendLater returns the lock extend-later, whose deadline only ever moves to later.
//
//	acquire, release, extend  as setnx-px-lua
//
// It is setnx-px-lua whose client takes an extend for something that makes a lease longer, and
// keeps the later of the two deadlines.
//
// Broken: a holder that extends by less than is left has shortened its lease, and is told that
// it has the longer one (P70).
func newExtendLater(env Env) Locker {
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
