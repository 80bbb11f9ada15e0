package locks

import (
	"context"

	"github.com/redis/go-redis/v9"
)

func setNXPXWatchMisreadSpec() Spec {
	return Spec{
		Name:     "setnx-px-watch-misread",
		Title:    "setnx-px-watch that reads the replies of its release wrongly",
		Source:   "A 4.2",
		Masters:  1,
		Variant:  "setnx-px-watch",
		HasToken: true,
		Promises: Promises{ReleasesRefused: true},
		Breaks: map[string]string{
			"mutual exclusion":           "P10: a release that deleted the key says that it was not held",
			"refusal":                    "P10: a release that deleted the key says that it was not held",
			"foreign release is refused": "P10: a release that deleted the key says that it was not held",
			"second release is refused":  "P10: a release that deleted the key says that it was not held",
			"no re-entry":                "P10: a release that deleted the key says that it was not held",
		},
		New: newSetNXPXWatchMisread,
	}
}

// newSetNXPXWatchMisread returns the lock setnx-px-watch-misread: setnx-px-watch with the
// replies read as in A's listings.
//
//	acquire  SET key token NX PX milliseconds
//	release  on one connection: WATCH key, GET key; if that answered the own token:
//	         MULTI, DEL key, EXEC; at last UNWATCH
//
// Source: A 4.2, where a Long is compared with an Integer, so that no release ever says
// that it worked, and where the size of EXEC's nil is asked for, which throws. A 2.3 is
// [newSetNXPXWatchSession].
//
// Broken: a release that deleted the key answers ErrNotHeld, and one that EXEC refused
// answers an error that leaves the outcome open (P10).
func newSetNXPXWatchMisread(env Env) Locker {
	return newSetNXPX(env, watchAndMisread)
}

func watchAndMisread(ctx context.Context, node *redis.Client, key, token string) error {
	return pinned(node, func(conn connection) error {
		if err := conn.Do(ctx, "WATCH", key).Err(); err != nil {
			return err
		}
		defer unwatch(ctx, conn)
		if err := verify(ctx, conn, key, token); err != nil {
			return err
		}
		if _, err := execDel(ctx, conn, key); err != nil {
			return err // redis.TxFailedErr too
		}
		return ErrNotHeld
	})
}
