package locks

import (
	"context"
	"errors"
	"sync"
	"time"
)

func reentrantTicksSpec() Spec {
	return Spec{
		Name:       "reentrant-ticks",
		Title:      "reentrant-string, renewed by script every fifth of the TTL",
		Source:     "D, written anew",
		Sound:      true,
		Assumption: "the master keeps its keys and its clock, and the holder stops when it is told of the loss",
		Masters:    1,
		Renews:     true,
		Reenters:   true,
		Waits:      true,
		Promises:   Promises{NeverShortens: true, BoundedHold: true},
		New:        newReentrantTicks,
	}
}

// newReentrantTicks returns the lock reentrant-ticks: reentrant-string whose holds are renewed
// as those of watchdog-ticks, and which is waited for by trying again.
//
//	acquire  as reentrant-string
//	renew    every fifth of the TTL: the script of its extend
//	release  as reentrant-string
//	wait     every tenth of the TTL
//
// Source: D, written anew: a second lock of redisson-style's class, by which locks that are
// re-entrant and renewed are measured.
//
// All leases of one hold share its renewal: the last release stops it. A hold that was lost is
// not taken up again: leases of it are refused. The lock is an io.Closer.
//
// Sound under the assumptions of watchdog. As in reentrant-string an acquire that is sent
// again counts twice (P33).
func newReentrantTicks(env Env) Locker {
	return &reentrantTicks{
		background: newBackground(env, 0), lock: &reentrantString{env: env, holder: holderID(env)}, holds: map[string]*ticksHold{},
	}
}

type reentrantTicks struct {
	*background
	lock *reentrantString

	mu    sync.Mutex
	holds map[string]*ticksHold
}

// ticksHold is what the leases of one key share.
type ticksHold struct {
	*ticks
	leases int // not given back
}

func (r *reentrantTicks) Acquire(ctx context.Context, key string, ttl time.Duration) (Lease, error) {
	deadline, err := r.lock.enter(ctx, key, ttl)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	h := r.holds[key]
	if h == nil || !h.extended(deadline) {
		h = &ticksHold{ticks: startTicks(r.background, deadline, ttl, func(ctx context.Context) error {
			return r.lock.prolong(ctx, key, ttl)
		})}
		r.holds[key] = h
	}
	h.leases++
	return &reentrantTicksLease{lock: r, key: key, hold: h}, nil
}

// Await tries again until the lock is free.
func (r *reentrantTicks) Await(ctx context.Context, key string, ttl time.Duration) (Lease, error) {
	return AcquireWait(ctx, r, key, ttl, Interval{Every: ttl / 10, Clock: r.lock.env.Clock})
}

func (r *reentrantTicks) Count(ctx context.Context, key string) (int64, error) {
	return r.lock.Count(ctx, key)
}

// leave takes a lease from its hold. It says whether the hold is still the one of key, and
// whether it was the last lease of it.
func (r *reentrantTicks) leave(l *reentrantTicksLease) (current, last bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if l.over || r.holds[l.key] != nil && r.holds[l.key] != l.hold {
		return false, false
	}
	if !l.left {
		l.left = true
		l.hold.leases--
	}
	if l.hold.leases == 0 {
		delete(r.holds, l.key)
	}
	return true, l.hold.leases == 0
}

// reentrantTicksLease is one acquire or re-entry. It is safe for concurrent use.
type reentrantTicksLease struct {
	lock *reentrantTicks
	key  string
	hold *ticksHold

	// Guarded by lock.mu.
	left bool // the hold
	over bool // given back or lost for certain
}

// Release gives one acquire back. A lease that was given back is not sent again: that would
// give back the outer one.
func (l *reentrantTicksLease) Release(ctx context.Context) error {
	current, last := l.lock.leave(l)
	if !current {
		return ErrNotHeld
	}
	if last {
		l.hold.stop()
	}
	err := l.lock.lock.leave(ctx, l.key)
	if err == nil || errors.Is(err, ErrNotHeld) {
		l.lock.mu.Lock()
		defer l.lock.mu.Unlock()
		l.over = true
	}
	return err
}

func (l *reentrantTicksLease) Token() int64          { return 0 }
func (l *reentrantTicksLease) Lost() <-chan struct{} { return l.hold.Lost() }
func (l *reentrantTicksLease) Deadline() time.Time   { return l.hold.until() }
