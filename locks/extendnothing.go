package locks

import (
	"context"
	"time"
)

func extendNothingSpec() Spec {
	return Spec{
		Name:     "extend-nothing",
		Title:    "setnx-px-lua that extends by 0 and less, which deletes the key",
		Source:   "mutant of setnx-px-lua",
		Masters:  1,
		Variant:  "setnx-px-lua",
		Extends:  true,
		HasToken: true,
		Promises: Promises{ReleasesRefused: true},
		Breaks: map[string]string{
			"bad input": "P71: an extend by 0 deletes the key",
		},
		New: newExtendNothing,
	}
}

// newExtendNothing returns the lock extend-nothing, which takes any number for a TTL.
//
//	acquire, release  as setnx-px-lua
//	extend            as setnx-px-lua, also with a TTL of 0 and less
//
// It is setnx-px-lua whose extend sends what it is given. To Redis an expiry that has passed
// deletes the key.
//
// Broken: a holder that extends by nothing, as by what is left of a budget that it has used up,
// has given the lock away, and is told that it was extended (P71).
func newExtendNothing(env Env) Locker {
	lock := newSetNXPX(env, compareAndDelete)
	lock.extend = func(ctx context.Context, l *singleLease, ttl time.Duration) error {
		deadline := l.from(ttl)
		err := compareAndPExpire(ctx, env.Nodes[0], l.key, l.token, ttl)
		if err == nil {
			l.deadline = deadline
		}
		return err
	}
	return lock
}
