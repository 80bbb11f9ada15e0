package locks

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"
)

func setGetSpec() Spec {
	return Spec{
		Name:     "set-get",
		Title:    "SET with GET, whose answer of nothing is taken for success; compare-and-delete script",
		Source:   "C",
		Masters:  1,
		Variant:  "set-options",
		HasToken: true,
		Promises: Promises{ReleasesRefused: true},
		Breaks: map[string]string{
			"mutual exclusion": "P90: who is refused has put its own token in the holder's place",
			"refusal":          "P90: who is refused has put its own token in the holder's place",
			"no re-entry":      "P90: who is refused has put its own token in the holder's place",
			"a refused client's release changes nothing": "P96: who is refused has put its own token in the holder's place, and deletes it",
		},
		New: newSetGet,
	}
}

// newSetGet returns the lock set-get, which asks SET what it found, and not to set only what
// is free.
//
//	acquire  SET key token GET PX milliseconds: taken if it answers a value
//	release  a script that deletes key if its value is the own token
//
// Source: C 不可重入锁, the option GET: "the old value, or nil if the key does not exist". It reads
// as if a nil were a grant.
//
// Broken: SET writes whatever it finds. Who is refused has put its own token and its own TTL in
// the holder's place, so that the holder's release is refused and the key belongs to nobody
// (P90). If it releases all the same, it deletes that, and somebody else gets in (P96).
func newSetGet(env Env) Locker {
	return &single{env: env, release: compareAndDelete, acquire: setGetPX}
}

func setGetPX(ctx context.Context, node *redis.Client, key, token string, ttl time.Duration) (int64, error) {
	err := node.Do(ctx, "SET", key, token, "GET", "PX", ttl.Milliseconds()).Err()
	switch {
	case errors.Is(err, redis.Nil):
		return 0, nil
	case err != nil:
		return 0, err
	default:
		return 0, ErrTaken
	}
}
