package locks

import (
	"context"
	"time"
)

func extendSecondsSpec() Spec {
	return Spec{
		Name:     "extend-seconds",
		Title:    "setnx-px-lua that extends by seconds where milliseconds are wanted",
		Source:   "mutant of setnx-px-lua",
		Masters:  1,
		Variant:  "setnx-px-lua",
		Extends:  true,
		HasToken: true,
		Promises: Promises{ReleasesRefused: true},
		Breaks: map[string]string{
			"extend": "P74: extend tells PEXPIRE seconds",
		},
		New: newExtendSeconds,
	}
}

// newExtendSeconds returns the lock extend-seconds, whose extend counts in seconds.
//
//	acquire, release  as setnx-px-lua
//	extend            the script of setnx-px-lua, with the TTL in seconds
//
// It is setnx-px-lua whose extend tells PEXPIRE, which takes milliseconds, what it would tell
// EXPIRE.
//
// Broken: a lease that is extended ends a thousand times too early, and its holder is told the
// whole of it (P74).
func newExtendSeconds(env Env) Locker {
	lock := newSetNXPX(env, compareAndDelete)
	lock.extend = func(ctx context.Context, l *singleLease, ttl time.Duration) error {
		if err := lock.check(l.key, ttl); err != nil {
			return err
		}
		deadline := l.from(ttl)
		seconds := max(1, int64(ttl/time.Second)) * int64(time.Millisecond) // as PEXPIRE reads them
		err := compareAndPExpire(ctx, env.Nodes[0], l.key, l.token, time.Duration(seconds))
		if err == nil {
			l.deadline = deadline
		}
		return err
	}
	return lock
}
