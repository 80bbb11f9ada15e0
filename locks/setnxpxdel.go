package locks

import (
	"context"

	"github.com/redis/go-redis/v9"
)

func setNXPXDelSpec() Spec {
	return Spec{
		Name:     "setnx-px-del",
		Title:    "SET NX PX; unconditional DEL",
		Source:   "A 4.3, D",
		Masters:  1,
		HasToken: true,
		Promises: Promises{ReleasesRefused: true},
		Breaks: map[string]string{
			"foreign release is refused":                 "P07: DEL takes the lock from its next holder",
			"a refused client's release changes nothing": "P96: DEL takes the lock from its holder",
		},
		New: newSetNXPXDel,
	}
}

// newSetNXPXDel returns the lock setnx-px-del.
//
//	acquire  SET key token NX PX milliseconds
//	release  DEL key
//
// Source: A 4.3, D 服务宕机.
//
// Broken: a holder that outlives its lease deletes the next holder's lock (P07), and so does a client
// that was refused and releases all the same (P96).
func newSetNXPXDel(env Env) Locker {
	return newSetNXPX(env, func(ctx context.Context, node *redis.Client, key, _ string) error {
		return del(ctx, node, key)
	})
}
