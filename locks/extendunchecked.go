package locks

import (
	"context"
	"time"
)

func extendUncheckedSpec() Spec {
	return Spec{
		Name:     "extend-unchecked",
		Title:    "setnx-px-lua that extends by PEXPIRE whatever is under its key",
		Source:   "mutant of setnx-px-lua",
		Masters:  1,
		Variant:  "setnx-px-lua",
		Extends:  true,
		HasToken: true,
		Promises: Promises{ReleasesRefused: true},
		Breaks: map[string]string{
			"extend after expiry is refused": "P69: extend gives whatever is under the key a new end",
		},
		New: newExtendUnchecked,
	}
}

// newExtendUnchecked returns the lock extend-unchecked, which extends whatever is under its key.
//
//	acquire, release  as setnx-px-lua
//	extend            PEXPIRE key milliseconds
//
// It is setnx-px-lua whose extend asks only whether there is a key.
//
// Broken: a holder that outlived its lease gives the next holder's key its own TTL, and is told
// that the lock is its own (P69). So does who was refused (P99).
func newExtendUnchecked(env Env) Locker {
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
