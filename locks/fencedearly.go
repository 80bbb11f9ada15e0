package locks

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"
)

func fencedEarlySpec() Spec {
	return Spec{
		Name:     "fenced-early",
		Title:    "fenced that draws its token before it has the lock",
		Source:   "mutant of fenced",
		Masters:  1,
		Variant:  "fenced",
		Fencing:  true,
		HasToken: true,
		Promises: Promises{ReleasesRefused: true},
		New:      newFencedEarly,
	}
}

// newFencedEarly returns the lock fenced-early, which draws its token before it has the lock.
//
//	acquire  INCR the counter, then SET key token NX PX milliseconds
//	release  as fenced
//
// It is fenced in two commands: the token is drawn, and then the lock is asked for.
//
// Broken: between the two somebody else may draw, acquire and be done. Tokens are in the order
// of asking and not of holding, and the resource refuses the holder (P78).
func newFencedEarly(env Env) Locker {
	return &single{env: env, release: compareAndDelete, acquire: func(
		ctx context.Context, node *redis.Client, key, token string, ttl time.Duration,
	) (int64, error) {
		fence, err := node.Incr(ctx, FenceKey(key)).Result()
		if err != nil {
			return 0, err
		}
		return fence, setNXPX(ctx, node, key, token, ttl)
	}}
}
