package locks

import (
	"context"
	"time"
)

func existsSetSpec() Spec {
	return Spec{
		Name:    "exists-set",
		Title:   "EXISTS, then SET; DEL",
		Source:  "D",
		Masters: 1,
		Breaks: map[string]string{
			"mutual exclusion":           "P03: two clients find no key, and both set it",
			"expiry":                     "P01: the key has no TTL, so that no lease ends",
			"foreign release is refused": "P01: the key has no TTL, so that no lease ends",
		},
		New: newExistsSet,
	}
}

// newExistsSet returns the lock exists-set, the first idea.
//
//	acquire  EXISTS key; if that answered 0: SET key 1
//	release  DEL key
//
// Source: D 简单思路. There is no TTL in it: Acquire ignores the one it is given, apart
// from refusing a bad one, and the Deadline is zero.
//
// Broken: two clients that both get EXISTS = 0 both hold the lock (P03), and the DEL of
// one ends the other's hold. A holder that crashes keeps it for ever (P01).
func newExistsSet(env Env) Locker {
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
