package locks

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

// Impatience is the refusal in a row after which impatient takes a lock to be left behind.
const Impatience = 100

func impatientSpec() Spec {
	return Spec{
		Name:     "impatient",
		Title:    "setnx-px-lua that deletes the key at every hundredth refusal",
		Source:   "mutant of setnx-px-lua",
		Masters:  1,
		Variant:  "setnx-px-lua",
		HasToken: true,
		Promises: Promises{ReleasesRefused: true},
		New:      newImpatient,
	}
}

// newImpatient returns the lock impatient, which breaks locks that it takes to be stuck.
//
//	acquire  SET key token NX PX milliseconds; at every hundredth refusal in a row DEL key, and
//	         the same SET again
//	release  as setnx-px-lua
//
// It is setnx-px-lua with a mend for locks that crashed clients have left behind, from the time
// when keys had no TTL.
//
// Broken: who asks often enough gets the lock of whoever holds it (P79).
func newImpatient(env Env) Locker {
	lock := newSetNXPX(env, compareAndDelete)
	var refused atomic.Int64
	lock.acquire = func(ctx context.Context, node *redis.Client, key, token string, ttl time.Duration) (int64, error) {
		err := setNXPX(ctx, node, key, token, ttl)
		if !errors.Is(err, ErrTaken) {
			refused.Store(0)
			return 0, err
		}
		if refused.Add(1) < Impatience {
			return 0, err
		}
		refused.Store(0)
		if err := node.Del(ctx, key).Err(); err != nil {
			return 0, err
		}
		return 0, setNXPX(ctx, node, key, token, ttl)
	}
	return lock
}
