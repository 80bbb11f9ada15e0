package player

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/schedule"
	"github.com/lockbench/lockbench/locks"
)

// operate is a step in which a client makes one call. A client that does not hold the lock skips
// what only holders do.
func (s *Stage) operate(ctx context.Context, p schedule.Step) error {
	c, err := s.client(p.Who[0])
	if err != nil {
		return err
	}
	if err := s.finish(ctx, c); err != nil {
		return err
	}
	call, err := s.callOf(c, p)
	if err != nil {
		return err
	}
	call = s.counted(c, p, call)
	free := p.Verb == schedule.Acquire && s.free(c, s.Keys[max(p.Key, 1)-1])
	if p.Free {
		s.frees(c, free)
		err := s.begin(ctx, c, call)
		s.triesOnce(c, p)
		return err
	}
	stop := func() {}
	if p.Verb == schedule.Acquire && !p.Eventually && p.Within == nil {
		call, stop = s.proven(c, p.Key, free, call)
	}
	defer stop()
	if err := s.begin(ctx, c, call); err != nil {
		return err
	}
	s.triesOnce(c, p)
	return errors.Join(s.finish(ctx, c), s.settle(ctx, c))
}

// callOf returns the call that a client makes in a step.
func (s *Stage) callOf(c *Client, p schedule.Step) (func(context.Context) error, error) {
	switch p.Verb {
	case schedule.Acquire:
		return s.acquireOf(c, p)
	case schedule.Reenter:
		return func(ctx context.Context) error {
			if !c.Holds() {
				return ErrNotHolding
			}
			return orLeave(c, p, c.AcquireAs(ctx, histories.Reentrant, s.name(), s.span(p.For)))
		}, nil
	case schedule.Extend:
		if p.Refused {
			return func(ctx context.Context) error { return orLeave(c, p, c.ExtendRefused(ctx, s.span(p.For))) }, nil
		}
		return func(ctx context.Context) error { return orLeave(c, p, c.Extend(ctx, s.span(p.For))) }, nil
	case schedule.Verify:
		return func(ctx context.Context) error { return orLeave(c, p, c.Verify(ctx)) }, nil
	case schedule.Release:
		switch {
		case p.Again:
			return c.ReleaseAgain, nil
		case p.Refused:
			return c.ReleaseRefused, nil
		}
		return c.Release, nil
	case schedule.Read:
		return c.Read, nil
	case schedule.Write:
		return c.Write, nil
	case schedule.Draw:
		return func(ctx context.Context) error { return c.Draw(ctx, int64(p.N)) }, nil
	case schedule.Count:
		return func(ctx context.Context) error { return c.Count(ctx, s.name()) }, nil
	case schedule.Turn:
		return func(ctx context.Context) error { return c.turn(ctx, s) }, nil
	case schedule.ComeAndGo:
		return func(ctx context.Context) error { return s.comeAndGo(ctx, c, p.N) }, nil
	case schedule.UseAgain:
		return func(ctx context.Context) error { return s.useAgain(ctx, c, s.span(p.For)) }, nil
	case schedule.Leave:
		return func(context.Context) error { leave(c, p.What); return nil }, nil
	case schedule.Hang:
		return func(context.Context) error {
			c.Abandon("hangs in its section for good, and its process lives on")
			return nil
		}, nil
	}
	return nil, fmt.Errorf("no client can %q", p.Verb)
}

// orLeave is err. If the step says so, and the lock or the network said no, the client takes the
// lock for lost and walks away.
func orLeave(c *Client, p schedule.Step, err error) error {
	if _, invalid := errors.AsType[*locks.InputError](err); p.OrLeave && err != nil && !invalid {
		c.Abandon("")
	}
	return err
}

// leave ends the belief of a client in all that it holds: always, or if by its own clock the
// lease that it was told of is over.
func leave(c *Client, when string) {
	if when == schedule.IfOver {
		s := c.section()
		if s == nil || s.lease.Deadline().IsZero() || c.Clock.Now().Before(s.lease.Deadline()) {
			return
		}
	}
	c.Abandon("")
}

// turn is what a client does that waits for the lock.
func (c *Client) turn(ctx context.Context, s *Stage) error {
	if err := c.Await(ctx, s.name(), s.TTL); err != nil {
		return err
	}
	_ = c.Read(ctx) // recorded, as all calls are
	_ = c.Write(ctx)
	return c.Release(ctx)
}

// comeAndGo lets a holder release and acquire, so many times, one right after the other.
func (s *Stage) comeAndGo(ctx context.Context, c *Client, times int) error {
	for range times {
		if c.Holds() {
			_ = c.Release(ctx) // recorded
		}
		if err := c.Acquire(ctx, s.name(), s.TTL); err != nil && !errors.Is(err, locks.ErrTaken) {
			return err
		}
		if err := errors.Join(s.Stopped(ctx), c.Clock.Sleep(ctx, 5*time.Millisecond)); err != nil {
			return err
		}
	}
	return nil
}

// useAgain lets a client acquire and release, again and again, for a while.
func (s *Stage) useAgain(ctx context.Context, c *Client, d time.Duration) error {
	for end := c.Now() + d; c.Now() < end; {
		if err := c.AcquireAs(ctx, histories.Reentrant, s.name(), s.TTL); err == nil {
			_ = c.Release(ctx) // recorded
		}
		if err := errors.Join(s.Stopped(ctx), c.Clock.Sleep(ctx, max(s.TTL/4, time.Millisecond))); err != nil {
			return err
		}
	}
	return nil
}
