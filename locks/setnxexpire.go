package locks

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"
)

func setNXExpireSpec() Spec {
	return Spec{
		Name:     "setnx-expire",
		Title:    "SETNX, then EXPIRE; DEL",
		Source:   "A 3.3, B, D",
		Masters:  1,
		HasToken: true,
		Promises: Promises{ReleasesRefused: true},
		Breaks: map[string]string{
			"foreign release is refused":                 "P07: DEL takes the lock from its next holder",
			"interrupted acquire leaves nothing":         "P02: a client that stops after SETNX leaves a key without TTL",
			"a refused client's release changes nothing": "P96: DEL takes the lock from its holder",
		},
		New: newSetNXExpire,
	}
}

// newSetNXExpire returns the lock setnx-expire, the beginner's one.
//
//	acquire  SETNX key token; if that answered 1: EXPIRE key seconds
//	release  DEL key
//
// Source: A 3.3, B 起, D 又是原子性. The sources count in whole seconds. A TTL that is no
// whole number of seconds is sent as PEXPIRE key milliseconds, which changes nothing
// about the race.
//
// Broken: a client that stops between the two commands leaves a key that never
// expires (P02), and DEL takes the lock from whoever holds it by then (P07), also if
// whoever sends it was refused (P96). The token is written, as in A, but the release does
// not look at it.
func newSetNXExpire(env Env) Locker {
	return &single{
		env:     env,
		acquire: setNXThenExpire,
		release: func(ctx context.Context, node *redis.Client, key, _ string) error { return del(ctx, node, key) },
	}
}

func setNXThenExpire(ctx context.Context, node *redis.Client, key, token string, ttl time.Duration) (int64, error) {
	if err := setNX(ctx, node, key, token); err != nil {
		return 0, err
	}
	return 0, expire(ctx, node, key, ttl)
}
