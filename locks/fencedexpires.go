package locks

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"
)

func fencedExpiresSpec() Spec {
	return Spec{
		Name:     "fenced-expires",
		Title:    "fenced whose counter ends with the lease",
		Source:   "mutant of fenced",
		Masters:  1,
		Variant:  "fenced",
		Fencing:  true,
		HasToken: true,
		Promises: Promises{ReleasesRefused: true},
		Breaks: map[string]string{
			"tokens increase": "P76: the counter ends with the lease",
		},
		New: newFencedExpires,
	}
}

// newFencedExpires returns the lock fenced-expires, whose counter ends with the lease.
//
//	acquire  the script of fenced, and in it PEXPIRE of the counter
//	release  as fenced
//
// It is fenced whose counter has a TTL, so that no key stays behind for ever.
//
// Broken: when the lease ends the counter does, and the next holder gets the token that the
// late one has: the resource cannot tell them apart (P76).
func newFencedExpires(env Env) Locker {
	return &single{env: env, release: compareAndDelete, acquire: func(
		ctx context.Context, node *redis.Client, key, token string, ttl time.Duration,
	) (int64, error) {
		return fencedBy(ctx, node, fencedExpires, key, FenceKey(key), token, ttl)
	}}
}

// fencedBy acquires by a script that has the keys and arguments of fencedAcquireScript.
func fencedBy(ctx context.Context, node *redis.Client, lua, key, counter, token string, ttl time.Duration) (int64, error) {
	fence, err := node.Eval(ctx, lua, []string{key, counter}, token, ttl.Milliseconds()).Int64()
	if err == nil && fence == 0 {
		return 0, ErrTaken
	}
	return fence, err
}

const fencedExpires = `if redis.call('GET', KEYS[1]) then
  return 0
end
local fence = redis.call('INCR', KEYS[2])
redis.call('PEXPIRE', KEYS[2], ARGV[2])
redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2])
return fence
`
