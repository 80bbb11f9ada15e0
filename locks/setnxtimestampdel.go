package locks

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

func setNXTimestampDelSpec() Spec {
	return Spec{
		Name:    "setnx-timestamp-del",
		Title:   "SETNX of the instant it ends, if that has passed DEL and SETNX; DEL",
		Source:  "B",
		Masters: 1,
		Breaks: map[string]string{
			"foreign release is refused":   "P07: DEL takes the lock from its next holder",
			"deadline is not after expiry": "P04: the key has no TTL; it ends when a client compares its value with a clock and deletes it",
		},
		New: newSetNXTimestampDel,
	}
}

// newSetNXTimestampDel returns the lock setnx-timestamp-del.
//
//	acquire  SETNX key ends, where ends is the client's clock + TTL in milliseconds;
//	         if that answered 0: GET key, and if the client's clock is past its value:
//	         DEL key, SETNX key ends
//	release  DEL key
//
// Source: B 承, the way that B proposes and refutes. The key has no TTL: a lease ends when
// another client takes the key away.
//
// Broken: between DEL and SETNX another client that read the same value can do the same,
// and then its DEL removes a lock that has just been taken (P04). Whose clock is ahead
// takes leases that have not ended (P06), and the release takes the lock from whoever
// holds it by then (P07).
func newSetNXTimestampDel(env Env) Locker {
	return &plain{env: env, acquire: setNXTimestampThenDel}
}

func setNXTimestampThenDel(ctx context.Context, env Env, key string, ttl time.Duration) error {
	node, now := env.Nodes[0], env.Clock.Now()
	ends := now.Add(ttl).UnixMilli()
	err := setNX(ctx, node, key, ends)
	if !errors.Is(err, ErrTaken) {
		return err
	}
	_, ended, err := readTimestamp(ctx, node, key, now)
	if err != nil {
		return err
	}
	if !ended {
		return ErrTaken
	}
	if err := node.Del(ctx, key).Err(); err != nil {
		return err
	}
	return setNX(ctx, node, key, ends)
}

// readTimestamp sends GET key. It returns the value, and whether now is past it. A key
// that is gone by now has not ended: B does not try again then.
func readTimestamp(ctx context.Context, node *redis.Client, key string, now time.Time) (value string, ended bool, err error) {
	value, err = node.Get(ctx, key).Result()
	if errors.Is(err, redis.Nil) {
		return "", false, nil
	}
	if err != nil {
		return "", false, err
	}
	ends, err := strconv.ParseInt(value, 10, 64)
	if err != nil {
		return "", false, fmt.Errorf("lock %s holds %q, want the instant in milliseconds at which it ends", key, value)
	}
	return value, ends < now.UnixMilli(), nil
}
