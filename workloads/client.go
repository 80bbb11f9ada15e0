// Package workloads is what clients do with a lock: directed scripts that walk it
// through an exact sequence of steps, and random load.
package workloads

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/locks"
	"github.com/lockbench/lockbench/nemesis"
	"github.com/lockbench/lockbench/resource"
)

// ErrNotHolding says that a client was asked to use a lock that it does not hold.
var ErrNotHolding = errors.New("client does not hold the lock")

// Client is one worker: it calls the lock and the register one call at a time and
// records each. It is not safe for concurrent use, except Holds.
type Client struct {
	Name     string
	Worker   int
	Workers  int // of the whole run: a retired process number goes up by this much
	Lock     locks.Locker
	Register *resource.Register
	Guard    resource.Guard
	Clock    Clock         // behind Gate
	Gate     *nemesis.Gate // closed while the client is paused
	Recorder *histories.Recorder
	Now      func() time.Duration // the run's clock
	Rand     *rand.Rand
	Timeout  time.Duration // of one call

	retired int
	crashed bool
	held    *section
	holds   atomic.Bool // whether held is set, for others to see
}

// section is a lock that the client believes to hold, and what it did under it.
type section struct {
	access  *resource.Section
	lease   locks.Lease
	key     string
	attempt uint64
	seen    resource.State
}

// Holds says whether the client believes to hold the lock. It may be called at any time.
func (c *Client) Holds() bool { return c.holds.Load() }

func (c *Client) hold(s *section) {
	c.held = s
	c.holds.Store(s != nil)
}

// Process is the client's current process number.
func (c *Client) Process() int { return c.Worker + c.retired*c.Workers }

// Acquire tries once to get the lock on key for ttl. It returns the lock's error.
func (c *Client) Acquire(ctx context.Context, key string, ttl time.Duration) error {
	e := histories.Event{F: histories.Acquire, Key: key, Attempt: c.Rand.Uint64() >> 11, TTL: ttl}
	var lease locks.Lease
	err := c.call(ctx, e, func(ctx context.Context, done *histories.Event) (err error) {
		if lease, err = c.Lock.Acquire(ctx, key, ttl); err != nil {
			return err
		}
		done.Token = lease.Token()
		if d := lease.Deadline(); !d.IsZero() {
			done.Deadline = c.Now() + d.Sub(c.Clock.Now())
		}
		return nil
	})
	if err == nil {
		c.hold(&section{access: c.Guard.Enter(c.Register, lease, c.Clock), lease: lease, key: key, attempt: e.Attempt})
	}
	return err
}

// Release gives the lock back. Whatever the outcome, the client stops believing in it.
func (c *Client) Release(ctx context.Context) error {
	s := c.held
	if s == nil {
		return ErrNotHolding
	}
	c.hold(nil)
	return c.call(ctx, s.event(histories.Release), func(ctx context.Context, _ *histories.Event) error {
		return s.lease.Release(ctx)
	})
}

// Read reads the protected register inside the critical section.
func (c *Client) Read(ctx context.Context) error {
	s := c.held
	if s == nil {
		return ErrNotHolding
	}
	return c.call(ctx, s.event(histories.Read), func(ctx context.Context, done *histories.Event) (err error) {
		if s.seen, err = s.access.Read(ctx); err != nil {
			return err
		}
		done.Version, done.Value, done.Token = s.seen.Version, fmt.Sprint(s.seen.Value), s.access.Token()
		return nil
	})
}

// Write stores what Read saw, plus one.
func (c *Client) Write(ctx context.Context) error {
	s := c.held
	if s == nil {
		return ErrNotHolding
	}
	e := s.event(histories.Write)
	e.Value = fmt.Sprint(s.seen.Value + 1)
	return c.call(ctx, e, func(ctx context.Context, done *histories.Event) error {
		state, err := s.access.Write(ctx, s.seen.Value+1)
		if err != nil {
			return err
		}
		done.Version, done.Token = state.Version, s.access.Token()
		return nil
	})
}

// Crash ends the client: it believes nothing any more and does nothing any more. The
// caller cuts its connections. A call in flight must have ended before.
func (c *Client) Crash() {
	c.crashed = true
	c.hold(nil)
	c.Recorder.Record(histories.Event{Process: c.Process(), Worker: c.Worker, Type: histories.Info, F: histories.Crash})
}

func (s *section) event(f histories.F) histories.Event {
	return histories.Event{F: f, Key: s.key, Attempt: s.attempt, Token: s.access.Token()}
}

// call records e, makes the call, and records what became of it.
func (c *Client) call(ctx context.Context, e histories.Event, f func(context.Context, *histories.Event) error) error {
	c.Clock.Now() // stands still while the client is paused, before anything is recorded
	ctx, cancel := context.WithTimeout(ctx, c.Clock.In(c.Timeout))
	defer cancel()
	e.Process, e.Worker, e.Type = c.Process(), c.Worker, histories.Invoke
	c.Recorder.Record(e)
	done := e
	err := f(ctx, &done)
	done.Type = outcome(err)
	if err != nil {
		done.Err = err.Error()
	}
	c.Recorder.Record(done)
	if done.Type == histories.Info {
		c.retired++
	}
	return err
}

// outcome says what is certain after err. What the lock or the guard refused did not
// happen; of any other error nobody knows.
func outcome(err error) histories.Type {
	switch {
	case err == nil:
		return histories.OK
	case resource.Refused(err), locks.Classify(err) == locks.Refused:
		return histories.Fail
	}
	return histories.Info
}
