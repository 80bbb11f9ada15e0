package locks

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

// waitReplicas is how many replicas must have the key before an acquire succeeds.
const waitReplicas = 1

func setNXPXWaitSpec() Spec {
	return Spec{
		Name:     "setnx-px-wait",
		Title:    "SET NX PX, WAIT 1; compare-and-delete script",
		Source:   "R",
		Masters:  1,
		Replicas: 1,
		HasToken: true,
		Promises: Promises{ReleasesRefused: true, Failover: true},
		New:      newSetNXPXWait,
	}
}

// newSetNXPXWait returns the lock setnx-px-wait.
//
//	acquire  on one connection: SET key token NX PX milliseconds,
//	         WAIT 1 milliseconds, a quarter of the TTL; if no replica had it by then: the
//	         release, and the acquire fails
//	release  a script that deletes key if its value is the own token
//
// WAIT counts the replicas that have what its own connection wrote: on another one of the
// pool it would say yes at once, see newSetNXPXWaitElsewhere. An acquire that fails for want of a replica answers an
// *UnreplicatedError, which is indefinite: a replica may have the key and not the
// release, and may be promoted. The release is sent even if the context has ended.
//
// Source: Redis documentation, WAIT, "Consistency and WAIT"; Distributed Locks.
//
// Broken, but less often than setnx-px-lua: with two replicas the one that lacks the key
// may be promoted (P17). WAIT makes no write conditional, and rolls none back.
func newSetNXPXWait(env Env) Locker {
	return setNXPXWaitOn(env, func(_ *redis.Client, own connection) doer { return own })
}

func setNXPXWaitElsewhereSpec() Spec {
	return Spec{
		Name:     "setnx-px-wait-elsewhere",
		Title:    "setnx-px-wait whose WAIT goes on another connection of the pool",
		Source:   "R, go-redis#1989",
		Masters:  1,
		Replicas: 1,
		Variant:  "setnx-px-wait",
		HasToken: true,
		Promises: Promises{ReleasesRefused: true, Failover: true},
		New:      newSetNXPXWaitElsewhere,
	}
}

// newSetNXPXWaitElsewhere returns the lock setnx-px-wait-elsewhere: setnx-px-wait that asks its
// client for WAIT as for any other command.
//
//	acquire  SET key token NX PX milliseconds; on another connection of the pool: WAIT 1
//	         milliseconds, a quarter of the TTL; the rest as setnx-px-wait
//	release  as setnx-px-wait
//
// In a busy process a pool has many connections, and what gives WAIT another one than SET had
// is chance. Here it is certain: the connection of SET is in use until WAIT has answered.
//
// Source: go-redis discussion 1989; Redis documentation, WAIT: "in the context of the current
// connection".
//
// Broken: WAIT answers at once with the number of replicas that are connected, as its own
// connection has written nothing that they lack. None of them need have the key, and the
// one that is promoted need not (P66). It is setnx-px-lua, and one command dearer.
func newSetNXPXWaitElsewhere(env Env) Locker {
	return setNXPXWaitOn(env, func(pool *redis.Client, _ connection) doer { return pool })
}

// setNXPXWaitOn is a lock that sends WAIT where on says: by the client, or on the connection
// of SET.
func setNXPXWaitOn(env Env, on func(*redis.Client, connection) doer) Locker {
	return &single{
		env: env,
		acquire: func(ctx context.Context, node *redis.Client, key, token string, ttl time.Duration) (int64, error) {
			return 0, setNXPXAndWait(ctx, node, on, key, token, ttl)
		},
		release: compareAndDelete,
	}
}

func setNXPXAndWait(
	ctx context.Context, node *redis.Client, on func(*redis.Client, connection) doer, key, token string, ttl time.Duration,
) error {
	patience := max(ttl/4, time.Millisecond) // WAIT takes 0 to mean for ever
	var acks int64
	var waitErr error
	err := pinned(node, func(conn connection) error {
		if err := setNXPX(ctx, conn, key, token, ttl); err != nil {
			return err
		}
		acks, waitErr = on(node, conn).Do(ctx, "WAIT", waitReplicas, patience.Milliseconds()).Int64()
		return nil
	})
	if err != nil || acks >= waitReplicas {
		return err
	}
	// A caller that gave up must still not leave the key behind.
	cleanup, cancel := context.WithTimeout(context.WithoutCancel(ctx), nodeTimeout(ttl))
	defer cancel()
	return &UnreplicatedError{
		Acks: acks, Want: waitReplicas, Patience: patience,
		Wait:    waitErr,
		Release: compareAndDelete(cleanup, node, key, token),
	}
}

// UnreplicatedError says that a key was set on the master, that too few replicas
// confirmed it, and what became of its release. It is indefinite.
type UnreplicatedError struct {
	Acks, Want int64
	Patience   time.Duration // that WAIT was given
	Wait       error         // of WAIT, which then counted nothing; or nil
	Release    error         // of the release; nil if the master's key is gone
}

func (e *UnreplicatedError) Error() string {
	text := fmt.Sprintf("%d of %d replicas had the key after %v", e.Acks, e.Want, e.Patience)
	if e.Wait != nil {
		text = fmt.Sprintf("WAIT: %v", e.Wait)
	}
	if e.Release != nil {
		return fmt.Sprintf("%s; clean-up: %v", text, e.Release)
	}
	return text + "; released"
}

// Unwrap returns the errors of WAIT and of the release, if any.
func (e *UnreplicatedError) Unwrap() []error {
	var errs []error
	for _, err := range []error{e.Wait, e.Release} {
		if err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}
