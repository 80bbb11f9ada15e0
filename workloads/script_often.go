package workloads

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lockbench/lockbench/locks"
)

// ReleaseAgain lets a client release once more what it has released before.
func ReleaseAgain(name string) Step {
	return call(name+" releases again what it has released", name, func(ctx context.Context, _ *Stage, c *Client) error {
		return c.ReleaseAgain(ctx)
	})
}

// ReleaseResent lets a holder release. The server executes the command, its reply is lost, and
// the command is sent again.
func ReleaseResent(name string) Step {
	release := Release(name)
	return Step{release.Text + "; the reply is lost, and the command is sent again", func(ctx context.Context, s *Stage) error {
		return s.twice(ctx, name, release)
	}}
}

// AcquireOften lets a client try so many times, one right after the other, until it has the
// lock. It must be done within half a TTL, so that no lease has ended meanwhile.
func AcquireOften(name string, tries int) Step {
	return Step{fmt.Sprintf("%s tries to acquire the lock %d times, one right after the other", name, tries), func(ctx context.Context, s *Stage) error {
		c, err := s.client(name)
		if err != nil {
			return err
		}
		end := s.Clock.Now().Add(s.TTL / 2)
		for n := range tries {
			if err := s.begin(ctx, c, func(ctx context.Context) error { return tryOnce(ctx, s, c) }); err != nil {
				return err
			}
			if err := errors.Join(s.finish(ctx, c), s.stop(ctx)); err != nil || c.Holds() {
				return err
			}
			if s.Clock.Now().After(end) {
				return &UnplayableError{Why: fmt.Sprintf("half a TTL of %v was enough for %d tries of %d", s.TTL, n+1, tries)}
			}
		}
		return nil
	}}
}

// OutliveOften plays so many rounds in each of which a client outlives its lease, the next
// acquires, the first one releases too late, and the third tries to acquire. It ends as soon as
// the third has been granted the lock.
func OutliveOften(first, next, third string, rounds int) Step {
	text := fmt.Sprintf("%d times: %s acquires and outlives its lease, %s acquires, %s releases too late, %s tries to acquire, %s releases",
		rounds, first, next, first, third, next)
	return Step{text, func(ctx context.Context, s *Stage) error {
		intruder, err := s.client(third)
		if err != nil {
			return err
		}
		for range rounds {
			for _, step := range []Step{Acquire(first), LeaseTimePasses(0), Acquire(next), Release(first), Acquire(third)} {
				if err := errors.Join(step.Do(ctx, s), s.Clock.Sleep(ctx, beat), s.stop(ctx)); err != nil {
					return err
				}
			}
			if intruder.Holds() {
				return nil
			}
			if err := Release(next).Do(ctx, s); err != nil {
				return err
			}
		}
		return nil
	}}
}

// ComeAndGo lets a holder release and acquire, so many times, one right after the other.
func ComeAndGo(name string, times int) Step {
	return call(fmt.Sprintf("%s releases and tries to acquire at once, %d times", name, times), name, func(ctx context.Context, s *Stage, c *Client) error {
		for range times {
			if c.Holds() {
				_ = c.Release(ctx) // recorded
			}
			if err := c.Acquire(ctx, s.name(), s.TTL); err != nil && !errors.Is(err, locks.ErrTaken) {
				return err
			}
			if err := errors.Join(s.stop(ctx), c.Clock.Sleep(ctx, 5*time.Millisecond)); err != nil {
				return err
			}
		}
		return nil
	})
}
