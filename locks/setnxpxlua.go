package locks

import (
	"context"

	"github.com/redis/go-redis/v9"
)

func setNXPXLuaSpec() Spec {
	return Spec{
		Name:       "setnx-px-lua",
		Title:      "SET NX PX; compare-and-delete script",
		Source:     "A 4.1, C, D",
		Sound:      true,
		Assumption: "the master keeps its keys and its clock, and the holder stops before its deadline",
		Masters:    1,
		Extends:    true,
		HasToken:   true,
		Promises:   Promises{ReleasesRefused: true},
		New:        newSetNXPXLua,
	}
}

// newSetNXPXLua returns the lock setnx-px-lua, the correct one on a single instance.
//
//	acquire  SET key token NX PX milliseconds
//	release  a script that deletes key if its value is the own token
//	extend   a script that sets key's TTL if its value is the own token
//
// Source: A 4.1, C, D 业务超时误删除; Redis documentation, Distributed Locks.
//
// Sound while the one master neither loses the key (P14, P50, P51) nor runs its clock
// ahead (P52), and while the holder stops before its deadline (P11, P54, P58).
func newSetNXPXLua(env Env) Locker {
	lock := newSetNXPX(env, compareAndDelete)
	lock.extend = extendOwn
	return lock
}

// compareAndDelete removes key if it holds token: nil, ErrNotHeld, or an indefinite error.
func compareAndDelete(ctx context.Context, node *redis.Client, key, token string) error {
	return deleted(compareAndDeleteScript.run(ctx, node, []string{key}, token))
}
