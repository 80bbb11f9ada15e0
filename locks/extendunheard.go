package locks

import (
	"context"
	"time"
)

func extendUnheardSpec() Spec {
	return Spec{
		Name:     "extend-unheard",
		Title:    "setnx-px-lua whose extend succeeds unless it is refused",
		Source:   "mutant of setnx-px-lua",
		Masters:  1,
		Variant:  "setnx-px-lua",
		Extends:  true,
		HasToken: true,
		Promises: Promises{ReleasesRefused: true},
		New:      newExtendUnheard,
	}
}

// newExtendUnheard returns the lock extend-unheard, whose extend succeeds unless it is refused.
//
//	acquire, release, extend  as setnx-px-lua
//
// It is setnx-px-lua whose extend logs an error of the network and goes on: the next extend
// will do.
//
// Broken: an extend that never reached the server moves the deadline beyond the life of the
// key (P72).
func newExtendUnheard(env Env) Locker {
	lock := newSetNXPX(env, compareAndDelete)
	lock.extend = func(ctx context.Context, l *singleLease, ttl time.Duration) error {
		deadline := l.from(ttl)
		err := extendOwn(ctx, l, ttl)
		if err != nil && Classify(err) == Refused {
			return err
		}
		l.deadline = deadline
		return nil
	}
	return lock
}
