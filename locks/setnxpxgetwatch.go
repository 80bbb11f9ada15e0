package locks

import (
	"context"
	"errors"

	"github.com/redis/go-redis/v9"
)

func setNXPXGetWatchSpec() Spec {
	return Spec{
		Name:     "setnx-px-get-watch",
		Title:    "SET NX PX; GET, WATCH, MULTI, DEL, EXEC",
		Source:   "A 4.2 mutant",
		Masters:  1,
		Variant:  "setnx-px-watch",
		HasToken: true,
		Promises: Promises{ReleasesRefused: true},
		New:      newSetNXPXGetWatch,
	}
}

// newSetNXPXGetWatch returns the lock setnx-px-get-watch: setnx-px-watch in the wrong order.
//
//	acquire  SET key token NX PX milliseconds
//	release  on one connection: GET key; if that answered the own token: WATCH key,
//	         MULTI, DEL key, EXEC
//
// Source: A 4.2 with two commands swapped.
//
// Broken: WATCH notices what happens after it. If the lease ends after GET's reply and
// another client acquires before WATCH, EXEC deletes that client's lock (P09).
func newSetNXPXGetWatch(env Env) Locker {
	return newSetNXPX(env, getThenWatchAndDelete)
}

func getThenWatchAndDelete(ctx context.Context, node *redis.Client, key, token string) error {
	err := pinned(node, func(conn connection) error {
		if err := verify(ctx, conn, key, token); err != nil {
			return err
		}
		if err := conn.Do(ctx, "WATCH", key).Err(); err != nil {
			return err
		}
		return deleted(execDel(ctx, conn, key))
	})
	if errors.Is(err, redis.TxFailedErr) {
		return ErrNotHeld
	}
	return err
}
