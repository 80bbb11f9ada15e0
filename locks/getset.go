package locks

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

// getSetTolerance is how far the clients' clocks may differ, by B.
const getSetTolerance = time.Second

func getSetSpec() Spec {
	return Spec{
		Name:     "getset",
		Promises: Promises{Tolerance: getSetTolerance},
		Title:    "SETNX of the instant it ends, if that has passed GETSET, then EXPIRE; DEL",
		Source:   "B",
		Masters:  1,
		Breaks: map[string]string{
			"foreign release is refused":         "P07: DEL takes the lock from its next holder",
			"interrupted acquire leaves nothing": "P26: an acquire whose reply was lost says that the lock is taken",
		},
		New: newGetSet,
	}
}

// newGetSet returns the lock getset.
//
//	acquire  SETNX key ends, where ends is the client's clock + TTL + 1 s in milliseconds;
//	         if that answered 0: GET key, and if the client's clock was past its value:
//	         GETSET key ends; if either took the lock: EXPIRE key seconds
//	release  DEL key
//
// GETSET took the lock if it answered the value that GET did. The second is a tolerance
// for clocks that differ; the Deadline is without it. A TTL that is no whole number of
// seconds is sent as PEXPIRE key milliseconds. The value is decimal where B's listing
// writes eight bytes.
//
// Source: B 承, both tryLock of the listing: the second one logs an exception of the first,
// and says false.
//
// Broken: the loser's GETSET has moved the winner's end and dropped its TTL, although it
// answers ErrTaken (P05); if the key had just gone, it made one that nobody holds. A client
// whose clock is ahead by more than the TTL and a second takes a lease that has not ended
// (P06), and the release takes the lock from whoever holds it by then (P07). An acquire that
// fails for any reason says that the lock is taken, also if its reply was lost (P26).
func newGetSet(env Env) Locker {
	return &plain{env: env, acquire: orTaken(setNXThenGetSet)}
}

func setNXThenGetSet(ctx context.Context, env Env, key string, ttl time.Duration) error {
	node, now := env.Nodes[0], env.Clock.Now()
	ends := strconv.FormatInt(now.Add(ttl).Add(getSetTolerance).UnixMilli(), 10)
	err := setNX(ctx, node, key, ends)
	if errors.Is(err, ErrTaken) {
		err = takeOver(ctx, node, key, ends, now)
	}
	if err != nil {
		return err
	}
	return expire(ctx, node, key, ttl)
}

// takeOver takes the lock if the lease in it has ended: nil, ErrTaken, or an indefinite error.
func takeOver(ctx context.Context, node *redis.Client, key, ends string, now time.Time) error {
	old, ended, err := readTimestamp(ctx, node, key, now)
	if err != nil {
		return err
	}
	if !ended {
		return ErrTaken
	}
	// Client.GetSet is deprecated, as the command is.
	found, err := node.Do(ctx, "GETSET", key, ends).Text()
	switch {
	case errors.Is(err, redis.Nil): // it was released, or expired, in between
		return ErrTaken
	case err != nil:
		return err
	case found != old:
		return ErrTaken
	default:
		return nil
	}
}
