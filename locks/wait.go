package locks

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

// AcquireWait acquires a lease on key, and waits as w says while the lock is taken.
//
// It returns the first answer that is not ErrTaken: a lease, or an error that leaves the
// outcome open. If ctx ends while it waits, the error is both ErrTaken and the context's
// cause: no attempt left anything behind. An attempt that is under way when ctx is cancelled
// is not broken off, see NewClient: give ctx a deadline. One that a deadline broke off leaves
// the outcome open.
func AcquireWait(ctx context.Context, l Locker, key string, ttl time.Duration, w Waiting) (Lease, error) {
	waiter, err := w.begin(l, key, ttl)
	if err != nil {
		return nil, err
	}
	defer waiter.end()
	for {
		lease, err := l.Acquire(ctx, key, ttl)
		if err == nil || !errors.Is(err, ErrTaken) {
			return lease, err
		}
		if ctx.Err() == nil {
			if err := waiter.pause(ctx, err); err != nil && ctx.Err() == nil {
				return nil, err
			}
		}
		if ctx.Err() != nil {
			return nil, fmt.Errorf("%w, and the wait for it was ended: %w", err, context.Cause(ctx))
		}
	}
}

// Waiting is a way to wait for a lock: Spin, Interval or PubSub.
type Waiting interface {
	// begin returns what waits for the lock on key. It sends nothing.
	begin(l Locker, key string, ttl time.Duration) (waiter, error)
}

// waiter waits for one lock.
type waiter interface {
	// pause returns when it is time for the next attempt, or when ctx ends. taken is what
	// the latest attempt answered.
	pause(ctx context.Context, taken error) error
	// end is called once, after the last attempt.
	end()
}

// Spin tries again at once. Source: A 3.2, B.
//
// It costs Redis as many commands as a connection can carry (P47); it is here to be
// compared with the others.
type Spin struct{}

func (Spin) begin(Locker, string, time.Duration) (waiter, error) { return Spin{}, nil }
func (Spin) pause(context.Context, error) error                  { return nil }
func (Spin) end()                                                {}

// Interval tries again after a pause of Every and a random part of Jitter, so that
// waiters do not come in step. Source: B.
type Interval struct {
	Every  time.Duration // more than 0
	Jitter time.Duration // 0: none
	Rand   *rand.Rand    // draws the random part; needed with Jitter only
	Clock  Clock
}

func (i Interval) begin(Locker, string, time.Duration) (waiter, error) {
	switch {
	case i.Every <= 0 || i.Jitter < 0:
		return nil, &InputError{
			Field: "waiting", Value: fmt.Sprintf("every %v with jitter %v", i.Every, i.Jitter),
			Want: "an interval of more than 0 and a jitter that is not negative",
		}
	case i.Clock == nil || i.Jitter > 0 && i.Rand == nil:
		return nil, &InputError{Field: "waiting", Value: "an Interval without Clock or Rand", Want: "a Clock, and Rand for the jitter"}
	}
	return i, nil
}

func (i Interval) pause(ctx context.Context, _ error) error {
	d := i.Every
	if i.Jitter > 0 {
		d += time.Duration(i.Rand.Int64N(int64(i.Jitter)))
	}
	return i.Clock.Sleep(ctx, d)
}

func (Interval) end() {}

// PubSub sleeps until the holder's release is told, and until the holder's lease ends at
// the latest, so that a message which got lost costs no more than that. The lock must be
// a Notifier. Source: D (Redisson).
type PubSub struct {
	Clock Clock
}

func (p PubSub) begin(l Locker, key string, ttl time.Duration) (waiter, error) {
	lock, ok := l.(Notifier)
	if !ok || p.Clock == nil {
		return nil, &InputError{
			Field: "waiting", Value: fmt.Sprintf("PubSub for a %T", l),
			Want: "a lock that is a Notifier, and a Clock; other locks can be waited for by Interval",
		}
	}
	return &listener{lock: lock, key: key, ttl: ttl, clock: p.Clock}, nil
}

// listener is a waiter that subscribes at its first pause: a free lock costs nothing
// more than its acquire.
type listener struct {
	lock  Notifier
	key   string
	ttl   time.Duration
	clock Clock

	released <-chan struct{}
	leave    func()
}

func (w *listener) pause(ctx context.Context, taken error) error {
	if w.released == nil {
		var err error
		w.released, w.leave, err = w.lock.Subscribe(ctx, w.key)
		// A release before the subscription was missed: try again at once.
		return err
	}
	select {
	case <-w.released:
		return nil
	case <-w.expiry(taken):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// expiry fires when the lease that is in the way has ended; never, if it has no end. A
// lock that does not know is taken to be held for as long as it is wanted.
func (w *listener) expiry(taken error) <-chan time.Time {
	remaining := w.ttl
	var held *TakenError
	if errors.As(taken, &held) {
		remaining = held.Remaining
	}
	if remaining < 0 {
		return nil
	}
	// Servers count in milliseconds, and a key dies up to one later.
	return w.clock.After(remaining + time.Millisecond)
}

func (w *listener) end() {
	if w.leave != nil {
		w.leave()
	}
}
