package locks

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"
)

func failOpenSpec() Spec {
	return Spec{
		Name:     "fail-open",
		Title:    "setnx-px-lua that is granted when the server cannot be reached",
		Source:   "mutant of setnx-px-lua",
		Masters:  1,
		Variant:  "setnx-px-lua",
		HasToken: true,
		Promises: Promises{ReleasesRefused: true},
		New:      newFailOpen,
	}
}

// newFailOpen returns the lock fail-open, which lets everybody in when Redis cannot be asked.
//
//	acquire, release  as setnx-px-lua
//
// It is setnx-px-lua whose acquire takes an error of the network, but no time-out, for a grant: better to work
// without a lock, says its author, than not to work.
//
// Broken: who cannot reach the server gets in beside whoever holds the lock (P85).
func newFailOpen(env Env) Locker {
	lock := newSetNXPX(env, compareAndDelete)
	lock.acquire = func(ctx context.Context, node *redis.Client, key, token string, ttl time.Duration) (int64, error) {
		err := setNXPX(ctx, node, key, token, ttl)
		// A server that takes too long is told apart by the error and not by ctx, whose end may
		// come with the connection's deadline or a moment after it.
		var timeout interface{ Timeout() bool }
		slow := errors.As(err, &timeout) && timeout.Timeout()
		if err != nil && Classify(err) == Indefinite && !slow && ctx.Err() == nil {
			return 0, nil
		}
		return 0, err
	}
	return lock
}
