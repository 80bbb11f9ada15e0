package locks

import (
	"context"
	"time"
)

// NewExistsSet returns the lock exists-set, the first idea.
//
//	acquire  EXISTS key; if that answered 0: SET key 1
//	release  DEL key
//
// Source: D 简单思路. There is no TTL in it: Acquire ignores the one it is given, apart
// from refusing a bad one, and the Deadline is zero.
//
// Broken: two clients that both get EXISTS = 0 both hold the lock (P03), and the DEL of
// one ends the other's hold. A holder that crashes keeps it for ever (P01).
func NewExistsSet(env Env) Locker {
	return &plain{env: env, acquire: existsThenSet, forever: true}
}

func existsThenSet(ctx context.Context, env Env, key string, _ time.Duration) error {
	switch exists, err := env.Nodes[0].Exists(ctx, key).Result(); {
	case err != nil:
		return err
	case exists > 0:
		return ErrTaken
	}
	return env.Nodes[0].Set(ctx, key, one, 0).Err()
}
