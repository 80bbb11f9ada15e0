package locks

import (
	"context"
	"time"
)

// NewSetNX returns the lock setnx.
//
//	acquire  SETNX key 1
//	release  DEL key
//
// Source: D 原子性. There is no TTL in it: Acquire ignores the one it is given, apart
// from refusing a bad one, and the Deadline is zero.
//
// Broken: a holder that crashes keeps the lock for ever (P01).
func NewSetNX(env Env) Locker {
	return &plain{
		env:     env,
		forever: true,
		acquire: func(ctx context.Context, env Env, key string, _ time.Duration) error {
			return setNX(ctx, env.Nodes[0], key, one)
		},
	}
}
