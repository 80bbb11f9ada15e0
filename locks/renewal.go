package locks

import (
	"context"
	"errors"
	"sync"
	"time"
)

// renewal keeps one hold alive until it is stopped, lost, or as old as it may become.
//
// A renewal begins a third of the TTL after the last one that worked began. After one
// that failed the next begins, and the failed one is given up, a sixth of the TTL later.
// The holder is told a tenth of the TTL before the deadline that nothing helped, so that
// it can stop in time: that covers clocks which run apart by as much.
type renewal struct {
	extend func(ctx context.Context, ttl time.Duration) error // nil, ErrNotHeld, or indefinite
	latest time.Time                                          // no renewed lease ends after it; zero: no bound
	lost   chan struct{}
	r      *routine

	mu       sync.Mutex
	ttl      time.Duration
	deadline time.Time
	over     bool // stopped or lost
}

// startRenewal renews a lease of ttl that ends at deadline, on the client's clock. The
// whole hold takes maxHold at most, or any time if maxHold is 0.
func startRenewal(
	b *background, deadline time.Time, ttl, maxHold time.Duration, extend func(context.Context, time.Duration) error,
) *renewal {
	w := &renewal{extend: extend, lost: make(chan struct{}), ttl: ttl, deadline: deadline}
	if maxHold > 0 {
		w.latest = deadline.Add(maxHold - ttl)
	}
	w.r = b.start(w.run)
	return w
}

func (w *renewal) run(r *routine) {
	defer w.lose()
	ttl, deadline := w.lease()
	next := deadline.Add(ttl/3 - ttl)
	for {
		ttl, deadline = w.lease()
		warning := deadline.Add(-ttl / 10)
		if next.After(warning) || !w.latest.IsZero() && next.Add(ttl).After(w.latest) {
			next = warning
		}
		// A third of the TTL is as long as it ever sleeps: a clock that was set back neither
		// lets the lease run out meanwhile nor puts off the renewal that is due after it.
		if r.sleep(min(next.Sub(r.clock.Now()), ttl/3)) != nil {
			return
		}
		began := r.clock.Now()
		if ttl, deadline = w.lease(); !began.Before(deadline.Add(-ttl / 10)) {
			return
		}
		if !w.latest.IsZero() && began.Add(ttl).After(w.latest) {
			continue
		}
		limit := min(ttl/6, deadline.Add(-ttl/10).Sub(began))
		switch err := r.call(limit, func(ctx context.Context) error { return w.extend(ctx, ttl) }); {
		case err == nil:
			w.prolong(began.Add(ttl), ttl)
			next = began.Add(ttl / 3)
		case errors.Is(err, ErrNotHeld):
			return
		default:
			next = began.Add(ttl / 6)
		}
	}
}

// lease is the TTL and the deadline, as far as it is known to be renewed.
func (w *renewal) lease() (ttl time.Duration, deadline time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.ttl, w.deadline
}

// prolong notes that the server has set a TTL, and says whether the hold is still renewed.
// What is promised already is kept.
func (w *renewal) prolong(deadline time.Time, ttl time.Duration) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.over {
		return false
	}
	w.ttl = max(w.ttl, ttl)
	if deadline.After(w.deadline) {
		w.deadline = deadline
	}
	return true
}

// stop ends the renewal of a hold that is given back. A renewal on its way to the server
// may still arrive there.
func (w *renewal) stop() {
	w.mu.Lock()
	w.over = true
	w.mu.Unlock()
	w.r.stop()
}

// lose tells the holder, unless it has given the lease back.
func (w *renewal) lose() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.over {
		w.over = true
		close(w.lost)
	}
}
