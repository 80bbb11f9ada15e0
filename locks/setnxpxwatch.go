package locks

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"
)

func setNXPXWatchSpec() Spec {
	return Spec{
		Name:       "setnx-px-watch",
		Title:      "SET NX PX; WATCH, GET, MULTI, DEL, EXEC",
		Source:     "A 4.2",
		Sound:      true,
		Assumption: "the master keeps its keys and its clock, and the holder stops before its deadline",
		Masters:    1,
		Extends:    true,
		HasToken:   true,
		Promises:   Promises{ReleasesRefused: true},
		New:        newSetNXPXWatch,
	}
}

// newSetNXPXWatch returns the lock setnx-px-watch.
//
//	acquire  SET key token NX PX milliseconds
//	release  on one connection: WATCH key, GET key; if that answered the own token:
//	         MULTI, DEL key, EXEC; else UNWATCH
//	extend   a script that sets key's TTL if its value is the own token
//
// EXEC refuses if somebody touched key after WATCH. That need not mean that it is lost,
// for a new TTL is a touch too: the release then looks again. WATCH belongs to a
// connection, which is therefore the release's own until it ends, and goes back to the
// pool watching nothing, or not at all (P59).
//
// Source: A 2.3, A 4.2. A sends UNWATCH after EXEC too, which has done that already, and
// reads the results wrongly: see [newSetNXPXWatchMisread].
//
// Sound under the assumptions of setnx-px-lua.
func newSetNXPXWatch(env Env) Locker {
	lock := newSetNXPX(env, watchAndDelete)
	lock.extend = extendOwn
	return lock
}

func watchAndDelete(ctx context.Context, node *redis.Client, key, token string) error {
	for {
		err := watchAndTryDelete(ctx, node, key, token)
		if !errors.Is(err, redis.TxFailedErr) {
			return err
		}
	}
}

func watchAndTryDelete(ctx context.Context, node *redis.Client, key, token string) error {
	return pinned(node, func(conn connection) error {
		if err := conn.Do(ctx, "WATCH", key).Err(); err != nil {
			return err
		}
		if err := verify(ctx, conn, key, token); err != nil {
			unwatch(ctx, conn)
			return err
		}
		return deleted(execDel(ctx, conn, key))
	})
}

// pinned calls f with a connection that nobody else uses meanwhile. It goes back to the
// pool then, or is closed if a command on it got no answer.
func pinned(node *redis.Client, f func(connection) error) error {
	conn := connection{node.Conn()}
	err := f(conn)
	_ = conn.Close() // whether the pool wants it back does not matter to the lock
	return err
}

// execDel sends MULTI, DEL key, EXEC, each after the answer to the one before: go-redis
// would send all three at once, and a DEL whose MULTI was refused is no transaction. It
// returns the number of keys removed, or redis.TxFailedErr if EXEC refused. The
// connection watches nothing afterwards.
func execDel(ctx context.Context, conn connection, key string) (int64, error) {
	removed, err := func() ([]int64, error) {
		if err := conn.Do(ctx, "MULTI").Err(); err != nil {
			return nil, err
		}
		if err := conn.Do(ctx, "DEL", key).Err(); err != nil {
			return nil, err
		}
		return conn.Do(ctx, "EXEC").Int64Slice()
	}()
	switch {
	case errors.Is(err, redis.Nil):
		return 0, redis.TxFailedErr
	case err != nil:
		_ = conn.Do(ctx, "DISCARD").Err() // there may be no transaction
		unwatch(ctx, conn)
		return 0, err
	case len(removed) != 1:
		return 0, fmt.Errorf("EXEC answered %v, want the one answer to DEL", removed)
	default:
		return removed[0], nil
	}
}

// unwatch has conn forget the keys it watches. If it gets no answer the pool does not
// take conn back.
func unwatch(ctx context.Context, conn connection) {
	_ = conn.Do(ctx, "UNWATCH").Err()
}
