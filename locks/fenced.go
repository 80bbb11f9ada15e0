package locks

import (
	"context"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

func fencedSpec() Spec {
	return Spec{
		Name:       "fenced",
		Title:      "setnx-px-lua with fencing tokens",
		Source:     "R, K",
		Sound:      true,
		Assumption: "the master keeps its keys and its clock, and the resource refuses old tokens",
		Masters:    1,
		Fencing:    true,
		Extends:    true,
		HasToken:   true,
		Promises:   Promises{ReleasesRefused: true},
		New:        newFenced,
	}
}

// newFenced returns the lock fenced: setnx-px-lua whose leases carry fencing tokens,
// 1 and up, each higher than all before it.
//
//	acquire  a script: if key is absent, INCR the counter FenceKey(key) and
//	         SET key token NX PX milliseconds
//	release  a script that deletes key if its value is the own token
//	extend   a script that sets key's TTL if its value is the own token
//
// Source: Kleppmann 2016, "Making the lock safe with fencing"; Redis documentation,
// Distributed Locks. A value of the wrong type under either key is an error, and
// nothing is set.
//
// Sound under the assumptions of setnx-px-lua, without the last: a resource that
// refuses tokens lower than the highest it has seen is safe from holders that go on
// past their deadline (P11). The counter has no TTL and must outlive every lease: a
// master that loses it issues old tokens again (P16).
func newFenced(env Env) Locker {
	return &single{env: env, acquire: fencedAcquire, release: compareAndDelete, extend: extendOwn}
}

func fencedAcquire(ctx context.Context, node *redis.Client, key, token string, ttl time.Duration) (int64, error) {
	fence, err := fencedAcquireScript.run(ctx, node, []string{key, FenceKey(key)}, token, ttl.Milliseconds())
	if err == nil && fence == 0 {
		return 0, ErrTaken
	}
	return fence, err
}

// FenceKey is the counter of the lock fenced on key. It falls into key's slot of a
// Redis Cluster: key itself becomes the hash tag, unless it has one already. (A key
// with a "}" but no tag cannot be made one, and works outside of a cluster only.)
func FenceKey(key string) string {
	if strings.Contains(key, "}") {
		return key + ":fence"
	}
	return "{" + key + "}:fence"
}
