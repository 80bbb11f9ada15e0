package locks

import (
	"context"
	"time"
)

func setNXSpec() Spec {
	return Spec{
		Name:    "setnx",
		Title:   "SETNX; DEL",
		Source:  "D",
		Masters: 1,
		Breaks: map[string]string{
			"expiry":                             "P01: the key has no TTL, so that no lease ends",
			"foreign release is refused":         "P01: the key has no TTL, so that no lease ends",
			"interrupted acquire leaves nothing": "P01: a client that stops after SETNX leaves a key without TTL",
		},
		New: newSetNX,
	}
}

// newSetNX returns the lock setnx.
//
//	acquire  SETNX key 1
//	release  DEL key
//
// Source: D 原子性. There is no TTL in it: Acquire ignores the one it is given, apart
// from refusing a bad one, and the Deadline is zero.
//
// Broken: a holder that crashes keeps the lock for ever (P01).
func newSetNX(env Env) Locker {
	return &plain{
		env:     env,
		forever: true,
		acquire: func(ctx context.Context, env Env, key string, _ time.Duration) error {
			return setNX(ctx, env.Nodes[0], key, one)
		},
	}
}
