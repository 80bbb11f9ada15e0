package locks

import (
	"context"
	"errors"
	"fmt"
	"time"
)

func waitFallsThroughSpec() Spec {
	return Spec{
		Name:     "wait-falls-through",
		Title:    "setnx-px-lua whose wait answers that it has the lock when it gives up",
		Source:   "mutant of setnx-px-lua",
		Masters:  1,
		Variant:  "setnx-px-lua",
		HasToken: true,
		Waits:    true,
		Promises: Promises{ReleasesRefused: true},
		New:      newWaitFallsThrough,
	}
}

// newWaitFallsThrough returns the lock wait-falls-through, which is Patient for a while.
//
//	acquire, release  as setnx-px-lua
//	await             acquire, up to 5 times, a tenth of the TTL apart
//
// It is setnx-px-lua with a loop that ends by break when it has the lock, and by its bound when
// it has not; what follows the loop does not ask which.
//
// Broken: a wait that was in vain answers that the lock is held (P83).
func newWaitFallsThrough(env Env) Locker {
	return &waitFallsThrough{newSetNXPX(env, compareAndDelete)}
}

type waitFallsThrough struct{ *single }

func (l *waitFallsThrough) Await(ctx context.Context, key string, ttl time.Duration) (Lease, error) {
	const tries = 5
	for range tries {
		lease, err := l.Acquire(ctx, key, ttl)
		if !errors.Is(err, ErrTaken) {
			return lease, err
		}
		if err := l.env.Clock.Sleep(ctx, ttl/(2*tries)); err != nil {
			return nil, fmt.Errorf("%w, and the wait for it was ended: %w", ErrTaken, err)
		}
	}
	token, err := l.newToken()
	if err != nil {
		return nil, err
	}
	lease := &singleLease{lock: l.single, key: key, token: token}
	lease.deadline = lease.from(ttl)
	return lease, nil
}
