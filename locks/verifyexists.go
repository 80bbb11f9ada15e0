package locks

import (
	"context"

	"github.com/redis/go-redis/v9"
)

func verifyExistsSpec() Spec {
	return Spec{
		Name:     "verify-exists",
		Title:    "setnx-px-lua whose holder asks only whether there is a key",
		Source:   "mutant of setnx-px-lua",
		Masters:  1,
		Variant:  "setnx-px-lua",
		HasToken: true,
		Promises: Promises{ReleasesRefused: true},
		Breaks: map[string]string{
			"verify": "P100: whatever is under the key is taken for the holder's own",
		},
		New: newVerifyExists,
	}
}

// newVerifyExists returns the lock verify-exists, whose holder asks only whether there is a key.
//
//	acquire, release  as setnx-px-lua
//	verify            EXISTS key
//
// It is setnx-px-lua whose holder asks whether the lock is taken, as libraries offer it under names
// such as locked, and takes the answer for whether it is its own.
//
// Broken: a holder that outlived its lease is told that it still holds the lock, when the next one
// does (P100).
func newVerifyExists(env Env) Locker {
	lock := newSetNXPX(env, compareAndDelete)
	lock.verify = func(ctx context.Context, node *redis.Client, key, _ string) error {
		switch found, err := node.Exists(ctx, key).Result(); {
		case err != nil:
			return err
		case found == 0:
			return ErrNotHeld
		}
		return nil
	}
	return lock
}
