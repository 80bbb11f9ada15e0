package locks

import (
	"context"
	"errors"
	"sync"
	"time"
)

func watchdogTicksSpec() Spec {
	return Spec{
		Name:       "watchdog-ticks",
		Title:      "setnx-px-watch, renewed by script every fifth of the TTL",
		Source:     "C, written anew",
		Sound:      true,
		Assumption: "the master keeps its keys and its clock, and the holder stops when it is told of the loss",
		Masters:    1,
		Renews:     true,
		HasToken:   true,
		Promises:   Promises{ReleasesRefused: true, BoundedHold: true},
		New:        newWatchdogTicks,
	}
}

// newWatchdogTicks returns the lock watchdog-ticks: setnx-px-watch whose leases are renewed at
// a steady beat, whatever became of the renewal before.
//
//	acquire  SET key token NX PX milliseconds
//	renew    every fifth of the TTL: a script that sets key's TTL if its value is the own token
//	release  as setnx-px-watch
//
// Source: C 自动续期, written anew: a second lock of watchdog's class, by which locks that
// renew are measured.
//
// Leases are Watched: Lost is closed a fifth of the TTL before the deadline if renewals fail,
// at once if the key has gone, and when the lease has been held for eight times its TTL (P39).
// Release stops the renewal, also if it fails. A Lease is safe for concurrent use.
//
// The lock is an io.Closer: Close ends the renewal of every lease.
//
// Sound under the assumptions of watchdog.
func newWatchdogTicks(env Env) Locker {
	return &watchdogTicks{background: newBackground(env, 0), single: newSetNXPX(env, watchAndDelete)}
}

type watchdogTicks struct {
	*background
	single *single
}

func (w *watchdogTicks) Acquire(ctx context.Context, key string, ttl time.Duration) (Lease, error) {
	lease, err := w.single.Acquire(ctx, key, ttl)
	if err != nil {
		return nil, err
	}
	held := lease.(*singleLease)
	return &ticksLease{singleLease: held, ticks: startTicks(w.background, held.deadline, ttl, func(ctx context.Context) error {
		return compareAndPExpire(ctx, w.single.env.Nodes[0], key, held.token, ttl)
	})}, nil
}

// ticksLease is a lease that is renewed by ticks.
type ticksLease struct {
	*singleLease
	*ticks
}

func (l *ticksLease) Release(ctx context.Context) error {
	l.stop()
	return l.singleLease.Release(ctx)
}

func (l *ticksLease) Deadline() time.Time { return l.until() }

// ticks renew one hold every fifth of its TTL.
type ticks struct {
	renew func(context.Context) error // nil, ErrNotHeld, or indefinite
	ttl   time.Duration
	last  time.Time // no renewed lease ends after it
	lost  chan struct{}
	r     *routine

	mu       sync.Mutex
	deadline time.Time
	over     bool // given back or lost
}

// mostTTLs bounds how long a hold is renewed.
const mostTTLs = 8

func startTicks(b *background, deadline time.Time, ttl time.Duration, renew func(context.Context) error) *ticks {
	t := &ticks{renew: renew, ttl: ttl, deadline: deadline, last: deadline.Add((mostTTLs - 1) * ttl), lost: make(chan struct{})}
	t.r = b.start(t.beat)
	return t
}

func (t *ticks) beat(r *routine) {
	defer t.lose()
	tick := t.ttl / 5
	for {
		// Never past the instant at which the holder must be told.
		left := t.until().Add(-tick).Sub(r.clock.Now())
		if left <= 0 || r.sleep(min(tick, left)) != nil {
			return
		}
		began := r.clock.Now()
		if !began.Before(t.until().Add(-tick)) {
			return
		}
		if began.Add(t.ttl).After(t.last) {
			continue
		}
		err := r.call(tick, t.renew)
		if errors.Is(err, ErrNotHeld) {
			return
		}
		if err == nil && !t.extended(began.Add(t.ttl)) {
			return
		}
	}
}

// extended notes a renewal that worked, and says whether the hold goes on.
func (t *ticks) extended(deadline time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over {
		return false
	}
	if deadline.After(t.deadline) {
		t.deadline = deadline
	}
	return true
}

func (t *ticks) until() time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.deadline
}

// Lost says when the hold can no longer be relied on.
func (t *ticks) Lost() <-chan struct{} { return t.lost }

// stop ends the renewal of a hold that is given back.
func (t *ticks) stop() {
	t.mu.Lock()
	t.over = true
	t.mu.Unlock()
	t.r.stop()
}

func (t *ticks) lose() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.over {
		t.over = true
		close(t.lost)
	}
}
