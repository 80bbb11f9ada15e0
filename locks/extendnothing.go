package locks

import (
	"context"
	"time"
)

// NewExtendNothing returns the lock extend-nothing, which takes any number for a TTL.
//
//	acquire, release  as setnx-px-lua
//	extend            as setnx-px-lua, also with a TTL of 0 and less
//
// It is setnx-px-lua whose extend sends what it is given. To Redis an expiry that has passed
// deletes the key.
//
// Broken: a holder that extends by nothing, as by what is left of a budget that it has used up,
// has given the lock away, and is told that it was extended (P71).
func NewExtendNothing(env Env) Locker {
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
