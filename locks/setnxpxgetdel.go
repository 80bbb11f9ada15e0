package locks

import (
	"context"

	"github.com/redis/go-redis/v9"
)

func setNXPXGetDelSpec() Spec {
	return Spec{
		Name:     "setnx-px-get-del",
		Title:    "SET NX PX; GET, compare, DEL",
		Source:   "A 4.4, D",
		Masters:  1,
		HasToken: true,
		Promises: Promises{ReleasesRefused: true},
		New:      newSetNXPXGetDel,
	}
}

// newSetNXPXGetDel returns the lock setnx-px-get-del.
//
//	acquire  SET key token NX PX milliseconds
//	release  GET key; if that answered the own token: DEL key
//
// Source: A 4.4, D 业务超时误删除.
//
// Broken: between GET's reply and DEL the lease can end and the key can become
// somebody else's (P08).
func newSetNXPXGetDel(env Env) Locker {
	return newSetNXPX(env, getThenDel)
}

func getThenDel(ctx context.Context, node *redis.Client, key, token string) error {
	if err := verify(ctx, node, key, token); err != nil {
		return err
	}
	return del(ctx, node, key)
}
