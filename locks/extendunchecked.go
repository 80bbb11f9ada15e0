package locks

import (
	"context"
	"time"
)

// NewExtendUnchecked returns the lock extend-unchecked, which extends whatever is under its key.
//
//	acquire, release  as setnx-px-lua
//	extend            PEXPIRE key milliseconds
//
// It is setnx-px-lua whose extend asks only whether there is a key.
//
// Broken: a holder that outlived its lease gives the next holder's key its own TTL, and is told
// that the lock is its own (P69).
func NewExtendUnchecked(env Env) Locker {
	lock := newSetNXPX(env, compareAndDelete)
	lock.extend = func(ctx context.Context, l *singleLease, ttl time.Duration) error {
		if err := lock.check(l.key, ttl); err != nil {
			return err
		}
		deadline := l.from(ttl)
		switch found, err := env.Nodes[0].PExpire(ctx, l.key, ttl).Result(); {
		case err != nil:
			return err
		case !found:
			return ErrNotHeld
		}
		l.deadline = deadline
		return nil
	}
	return lock
}
