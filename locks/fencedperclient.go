package locks

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"
)

func fencedPerClientSpec() Spec {
	return Spec{
		Name:     "fenced-per-client",
		Title:    "fenced with a counter for each client",
		Source:   "mutant of fenced",
		Masters:  1,
		Variant:  "fenced",
		Fencing:  true,
		HasToken: true,
		Promises: Promises{ReleasesRefused: true},
		Breaks: map[string]string{
			"tokens increase": "P77: each client counts by itself",
		},
		New: newFencedPerClient,
	}
}

// newFencedPerClient returns the lock fenced-per-client, which counts each client by itself.
//
//	acquire  the script of fenced, with a counter of the client
//	release  as fenced
//
// It is fenced whose counter is named after the client, as one that lives in the client's
// memory would be.
//
// Broken: a token says how often its client had the lock, and not who had it later (P77).
func newFencedPerClient(env Env) Locker {
	return &single{env: env, release: compareAndDelete, acquire: func(
		ctx context.Context, node *redis.Client, key, token string, ttl time.Duration,
	) (int64, error) {
		return fencedBy(ctx, node, fencedAcquireScript.lua, key, FenceKey(key)+":"+env.Client, token, ttl)
	}}
}
