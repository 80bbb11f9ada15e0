package player

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/locks"
)

// Acquire tries once to get the lock on key for ttl. It returns the lock's error.
func (c *Client) Acquire(ctx context.Context, key string, ttl time.Duration) error {
	return c.AcquireAs(ctx, histories.Exclusive, key, ttl)
}

// AcquireAs is Acquire of a lease that may be shared. Shared asks an RWLocker for a
// reader's lease. Inside a section of the client it begins an inner one.
func (c *Client) AcquireAs(ctx context.Context, mode histories.Mode, key string, ttl time.Duration) error {
	e, life := c.attempt(mode, key, ttl)
	acquire := c.Lock.Acquire
	if mode == histories.Shared {
		rw, ok := c.Lock.(locks.RWLocker)
		if !ok {
			return errors.New("the lock has no leases for readers")
		}
		acquire = rw.AcquireRead
	}
	return c.acquire(ctx, life, e, acquire)
}

// AcquireDefault tries once to get the lock on key without saying for how long. ttl is what the lock
// promises for that, and 0 if it promises no end.
func (c *Client) AcquireDefault(ctx context.Context, key string, ttl time.Duration) error {
	lock, ok := c.Lock.(locks.Defaulter)
	if !ok {
		return errors.New("the lock has to be told for how long")
	}
	e, life := c.attempt(histories.WithoutTTL, key, ttl)
	c.longest = max(c.longest, ttl)
	return c.acquire(ctx, life, e, func(ctx context.Context, key string, _ time.Duration) (locks.Lease, error) {
		return lock.AcquireDefault(ctx, key)
	})
}

// Await acquires the lock on key for ttl, and waits for it as the lock's source does. What
// that cost is recorded. A lock whose source does not wait is tried again and again, at an
// interval of a twentieth of the TTL, and what that costs says nothing of it.
func (c *Client) Await(ctx context.Context, key string, ttl time.Duration) error {
	e, life := c.attempt(histories.Exclusive, key, ttl)
	lock, ok := c.Lock.(locks.Patient)
	if !ok {
		poll := locks.Interval{Every: max(ttl/20, time.Millisecond), Clock: c.Clock}
		return c.acquire(ctx, life, e, func(ctx context.Context, key string, ttl time.Duration) (locks.Lease, error) {
			return locks.AcquireWait(ctx, c.Lock, key, ttl, poll)
		})
	}
	if c.Sent == nil {
		return c.acquire(ctx, life, e, lock.Await)
	}
	before := c.Sent()
	err := c.acquire(ctx, life, e, lock.Await)
	c.waited(life, e, c.Sent()-before)
	return err
}

// waited records what an acquire cost.
func (c *Client) waited(life int, e histories.Event, commands int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lives != life || c.crashed {
		return
	}
	c.Recorder.Record(histories.Event{
		Process: c.number(), Worker: c.Worker, Type: histories.Info, F: histories.Waited,
		Key: e.Key, Attempt: e.Attempt, Value: fmt.Sprint(commands),
	})
}

// attempt begins an attempt: its first event, and whose it is.
func (c *Client) attempt(mode histories.Mode, key string, ttl time.Duration) (histories.Event, int) {
	e := histories.Event{F: histories.Acquire, Key: key, Attempt: c.Rand.Uint64() >> 11, TTL: ttl, Value: string(mode)}
	c.Clock.Now() // stands still while the client is paused
	life := c.Life()
	if life != c.renewed && c.Renew != nil {
		c.Lock = c.Renew()
	}
	c.renewed = life
	return e, life
}

// acquire makes an attempt by one of the lock's methods.
func (c *Client) acquire(ctx context.Context, life int, e histories.Event, by func(context.Context, string, time.Duration) (locks.Lease, error)) error {
	key, ttl := e.Key, e.TTL
	var lease locks.Lease
	owed := c.Now() + ttl
	var asked time.Time
	err := c.call(ctx, life, e, func(ctx context.Context, done *histories.Event) (err error) {
		asked = c.Clock.Now()
		if lease, err = by(ctx, key, ttl); err != nil {
			return err
		}
		done.Token, done.Deadline = lease.Token(), c.told(lease)
		return nil
	}, func() {
		c.hold(&section{
			outer: c.held, access: c.enter(lease, key), lease: lease, life: life, key: key, attempt: e.Attempt,
			owed: owed, asked: asked, ttl: ttl, over: make(chan struct{}),
		})
		if w, ok := lease.(locks.Watched); ok {
			go c.watch(ctx, c.held, w)
		}
	})
	c.refused = nil
	if r, ok := errors.AsType[*locks.RefusedError](err); ok {
		c.refused = &refusal{lease: r.Lease, life: life, key: key, attempt: e.Attempt}
	}
	return err
}

// told is the end of the lease that its holder was told, as its clock shows it at this moment,
// on the run's clock; 0 if none. A wrong clock thus makes a wrong belief, and a lock that hands
// out a lease which ends too late by it is accused. A clock that goes wrong later does not
// change what was told: what its holder then does too late is judged by what happens to the
// resource.
func (c *Client) told(lease locks.Lease) time.Duration {
	end := lease.Deadline()
	if end.IsZero() {
		return 0
	}
	now, shown := c.bothClocks()
	return max(now+c.Skew.lasts(end.Sub(shown)), 1) // 0 would be none that was told
}

// bothClocks returns what the run's clock and the client's show at one moment. They are read one
// after the other, and who reads them may have to wait in between for a processor, or at a gate: then
// they are read again. The run's clock is the one that is read first, so that a deadline on it comes
// out too early rather than too late, and by no more than the shortest of these waits.
func (c *Client) bothClocks() (run time.Duration, own time.Time) {
	const (
		tries  = 10
		atOnce = 50 * time.Microsecond
	)
	shortest := time.Duration(math.MaxInt64)
	for range tries {
		before := c.Now()
		shown := c.Clock.Now()
		waited := c.Now() - before
		if waited < shortest {
			run, own, shortest = before, shown, waited
		}
		if shortest <= atOnce {
			break
		}
	}
	return run, own
}

// Overdue reports whether the innermost lease is over by the client's clock, so that who trusts
// its lock works no more under it: at the deadline that it was told last, or if it was told none
// a TTL after it asked, less the clock drift that Redlock allows for. Who holds none has nothing
// to rely on.
func (c *Client) Overdue() bool {
	s := c.section()
	if s == nil {
		return true
	}
	ends := s.ends()
	if ends.IsZero() {
		return false
	}
	return !c.Clock.Now().Before(ends.Add(-s.ttl/100 - 2*time.Millisecond))
}

// ends is when the lease is over by the client's clock: at the deadline that it was told last, or if it was told none a TTL after it asked; zero:
// it has no end.
func (s *section) ends() time.Time {
	ends := s.lease.Deadline()
	if ends.IsZero() && s.ttl > 0 {
		ends = s.asked.Add(s.ttl)
	}
	return ends
}

func (c *Client) enter(lease locks.Lease, key string) Section {
	if c.Enter != nil {
		return c.Enter(lease)
	}
	return c.Guard.Enter(c.Register[key], lease, c.Clock)
}

// Release gives the innermost lease back. Whatever the outcome, the client stops believing
// in it.
func (c *Client) Release(ctx context.Context) error {
	s := c.section()
	if s == nil {
		return ErrNotHolding
	}
	c.mu.Lock()
	if c.held == s { // it may have been lost, or its client have crashed, by now
		c.hold(s.outer)
	}
	c.mu.Unlock()
	c.last = s
	return c.release(ctx, s)
}

// ReleaseAgain gives the lease back that was given back last, as a program does that releases
// where it is done and once more where it cleans up.
func (c *Client) ReleaseAgain(ctx context.Context) error {
	if c.last == nil {
		return ErrNotHolding
	}
	return c.release(ctx, c.last)
}

// ReleaseRefused gives back what the latest acquire was refused, as a program does that releases
// wherever an acquire ends. It is ErrNotHolding if that was not refused.
func (c *Client) ReleaseRefused(ctx context.Context) error {
	r := c.refused
	if r == nil {
		return ErrNotHolding
	}
	return c.call(ctx, r.life, histories.Event{F: histories.Release, Key: r.key, Attempt: r.attempt}, func(ctx context.Context, _ *histories.Event) error {
		return r.lease.Release(ctx)
	}, nil)
}

func (c *Client) release(ctx context.Context, s *section) error {
	return c.call(ctx, s.life, s.event(histories.Release), func(ctx context.Context, _ *histories.Event) error {
		return s.lease.Release(ctx)
	}, nil)
}

// errNotVerifiable says that a lock cannot be asked who holds it.
var errNotVerifiable = errors.New("the lock has no way to ask whether it is still held")

// Verify asks the lock whether the innermost lease is still the client's. It returns the lock's
// error, and changes nothing that the client believes; see Abandon.
func (c *Client) Verify(ctx context.Context) error {
	s := c.section()
	if s == nil {
		return ErrNotHolding
	}
	lease, ok := s.lease.(locks.Verifier)
	if !ok {
		return errNotVerifiable
	}
	return c.call(ctx, s.life, s.event(histories.Verify), func(ctx context.Context, _ *histories.Event) error {
		return lease.Verify(ctx)
	}, nil)
}

// Count asks a re-entrant lock how often the client holds key.
func (c *Client) Count(ctx context.Context, key string) error {
	lock, ok := c.Lock.(locks.Reentrant)
	if !ok {
		return errors.New("the lock does not count")
	}
	return c.call(ctx, c.Life(), histories.Event{F: histories.Count, Key: key}, func(ctx context.Context, done *histories.Event) error {
		n, err := lock.Count(ctx, key)
		if err != nil {
			return err
		}
		done.Value = fmt.Sprint(n)
		return nil
	}, nil)
}
