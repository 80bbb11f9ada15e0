package locks

import (
	"context"

	"github.com/redis/go-redis/v9"
)

// NewSetNXPXDel returns the lock setnx-px-del.
//
//	acquire  SET key token NX PX milliseconds
//	release  DEL key
//
// Source: A 4.3, D 服务宕机.
//
// Broken: a holder that outlives its lease deletes the next holder's lock (P07).
func NewSetNXPXDel(env Env) Locker {
	return newSetNXPX(env, func(ctx context.Context, node *redis.Client, key, _ string) error {
		return del(ctx, node, key)
	})
}
