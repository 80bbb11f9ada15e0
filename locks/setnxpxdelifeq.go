package locks

import (
	"context"

	"github.com/redis/go-redis/v9"
)

func setNXPXDelIfEqSpec() Spec {
	return Spec{
		Name:       "setnx-px-delifeq",
		Title:      "SET NX PX; DELIFEQ",
		Source:     "Valkey DELIFEQ",
		Sound:      true,
		Assumption: "the master keeps its keys and its clock, and the holder stops before its deadline",
		Masters:    1,
		Variant:    "setnx-px-lua",
		Extends:    true,
		HasToken:   true,
		Commands:   []Command{delifeqCommand()},
		Promises:   Promises{ReleasesRefused: true},
		New:        newSetNXPXDelIfEq,
	}
}

// newSetNXPXDelIfEq returns the lock setnx-px-delifeq: setnx-px-delex by Valkey's command.
//
//	acquire, extend  as setnx-px-delex
//	release          DELIFEQ key token
//
// Source: Valkey documentation, DELIFEQ (9.0), which calls it the safe release of a lock, and SET, IFEQ
// (8.1).
//
// Sound as setnx-px-lua, and broken as it is.
func newSetNXPXDelIfEq(env Env) Locker {
	lock := newSetNXPX(env, func(ctx context.Context, node *redis.Client, key, token string) error {
		return deleted(node.Do(ctx, "DELIFEQ", key, token).Int64())
	})
	lock.extend = extendIfEqual
	return lock
}
