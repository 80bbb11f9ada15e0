package locks

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"
)

func fencedAfterSpec() Spec {
	return Spec{
		Name:       "fenced-after",
		Title:      "SET NX PX, then a fencing token by script; compare-and-delete script",
		Source:     "K, written anew",
		Sound:      true,
		Assumption: "the master keeps its keys and its clock, and the resource refuses old tokens",
		Masters:    1,
		Fencing:    true,
		Extends:    true,
		HasToken:   true,
		Promises:   Promises{ReleasesRefused: true},
		New:        newFencedAfter,
	}
}

// newFencedAfter returns the lock fenced-after: setnx-px-lua that draws its fencing token in a
// second step, while it holds the key.
//
//	acquire  SET key token NX PX milliseconds; a script: if key's value is the own token, INCR
//	         the counter FenceKey(key)
//	release  a script that deletes key if its value is the own token
//	extend   a script that sets key's TTL if its value is the own token
//
// Source: Kleppmann 2016, written anew: a second lock of fenced's class, by which locks with
// fencing tokens are measured.
//
// A token that was drawn before the key, or after it was lost, could be lower than that of an
// earlier holder. If the second step finds the key gone, nothing is held, and nobody else need have
// it: that is no refusal. If it gets no answer, the key is given back and the outcome stays open until
// the TTL ends.
//
// Sound under the assumptions of fenced.
func newFencedAfter(env Env) Locker {
	return &single{env: env, acquire: fencedAfterAcquire, release: compareAndDelete, extend: extendOwn}
}

func fencedAfterAcquire(ctx context.Context, node *redis.Client, key, token string, ttl time.Duration) (int64, error) {
	if err := setNXPX(ctx, node, key, token, ttl); err != nil {
		return 0, err
	}
	fence, err := fenceDrawScript.run(ctx, node, []string{key, FenceKey(key)}, token)
	switch {
	case err != nil:
		return 0, errors.Join(err, compareAndDelete(ctx, node, key, token))
	case fence < 1:
		return 0, errors.New("the lease ended before its token was drawn")
	}
	return fence, nil
}
