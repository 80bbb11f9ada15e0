package locks

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

func fencedEvalshaSpec() Spec {
	return Spec{
		Name:     "fenced-evalsha",
		Title:    "fenced that sends its scripts once, and then only their digests",
		Source:   "mutant of fenced, R",
		Masters:  1,
		Variant:  "fenced",
		Fencing:  true,
		HasToken: true,
		Promises: Promises{ReleasesRefused: true},
		New:      newFencedEvalsha,
	}
}

// newFencedEvalsha returns the lock fenced-evalsha: fenced that loads its scripts before its
// first acquire, and from then on names them by their digests only.
//
//	first             SCRIPT LOAD of both scripts
//	acquire, release  as fenced, by EVALSHA; NOSCRIPT is an error
//
// Source: the Redis documentation, EVALSHA and SCRIPT LOAD, without its advice to be ready for
// NOSCRIPT at any time.
//
// Broken: a server that forgets its scripts (SCRIPT FLUSH, a restart, a failover) never grants
// this client a lock again, and takes none back before its TTL (P57).
func newFencedEvalsha(env Env) Locker {
	return &fencedEvalsha{single: single{env: env, acquire: fencedAcquireByDigest, release: compareAndDeleteByDigest}}
}

type fencedEvalsha struct {
	single
	loaded atomic.Bool
}

func (f *fencedEvalsha) Acquire(ctx context.Context, key string, ttl time.Duration) (Lease, error) {
	if err := f.load(ctx); err != nil {
		return nil, err
	}
	return f.single.Acquire(ctx, key, ttl)
}

func (f *fencedEvalsha) load(ctx context.Context) error {
	if f.loaded.Load() {
		return nil
	}
	for _, s := range []script{fencedAcquireScript, compareAndDeleteScript} {
		if err := s.code.Load(ctx, f.env.Nodes[0]).Err(); err != nil {
			return err
		}
	}
	f.loaded.Store(true)
	return nil
}

func fencedAcquireByDigest(ctx context.Context, node *redis.Client, key, token string, ttl time.Duration) (int64, error) {
	fence, err := fencedAcquireScript.code.EvalSha(ctx, node, []string{key, FenceKey(key)}, token, ttl.Milliseconds()).Int64()
	if err == nil && fence == 0 {
		return 0, ErrTaken
	}
	return fence, err
}

func compareAndDeleteByDigest(ctx context.Context, node *redis.Client, key, token string) error {
	return deleted(compareAndDeleteScript.code.EvalSha(ctx, node, []string{key}, token).Int64())
}
