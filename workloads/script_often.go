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
				return &MissedError{Why: fmt.Sprintf("half a TTL of %v was enough for %d tries of %d", s.TTL, n+1, tries)}
			}
		}
		return nil
	}}
}

// OutliveAll lets a client acquire the locks on all keys and outlive their leases. Then, key by
// key, the next acquires, the first one releases too late, the third tries to acquire, and the
// next releases. It ends as soon as the third has been granted a lock within the lease of the
// next; who holds none by then has walked away.
func OutliveAll(first, next, third string) Step {
	text := fmt.Sprintf("%s acquires the locks on all keys and outlives their leases; key by key %s acquires, %s releases too late, %s tries to acquire, %s releases",
		first, next, first, third, next)
	return Step{text, func(ctx context.Context, s *Stage) error {
		late, err := s.client(first)
		if err != nil {
			return err
		}
		for n := range s.Keys {
			if err := errors.Join(AcquireKey(first, n+1).Do(ctx, s), s.stop(ctx)); err != nil {
				return err
			}
		}
		defer late.Abandon("")
		s.sight()
		if err := s.allEnd(ctx); err != nil {
			return err
		}
		for n := len(s.Keys); n > 0; n-- { // what was acquired last is released first
			stolen, err := s.outlive(ctx, late, next, third, n)
			if err != nil || stolen {
				return err
			}
		}
		return nil
	}}
}

// allEnd waits until no server has any key any more.
func (s *Stage) allEnd(ctx context.Context) error {
	lock, err := s.kept()
	if err != nil {
		return err
	}
	for range 10 {
		if err := errors.Join(s.Clock.Sleep(ctx, s.TTL/5), s.stop(ctx)); err != nil {
			return err
		}
		if n, err := s.held(ctx, lock); err != nil || n == 0 {
			return errors.Join(err, s.unsighted(s.Keys...))
		}
	}
	return &UnplayableError{Why: fmt.Sprintf("a lock's key is still there after twice its TTL of %v", s.TTL)}
}

// outlive plays one round of OutliveAll, and says whether the third was granted the lock that
// the next had.
func (s *Stage) outlive(ctx context.Context, late *Client, next, third string, key int) (bool, error) {
	if held := late.section(); held == nil || held.key != s.Keys[key-1].Name {
		return false, nil // it was not granted this one
	}
	owner, err := s.client(next)
	if err != nil {
		return false, err
	}
	intruder, err := s.client(third)
	if err != nil {
		return false, err
	}
	end := s.Clock.Now().Add(s.TTL / 2)
	for _, step := range []Step{AcquireKey(next, key), Release(late.Name), AcquireKey(third, key)} {
		if err := errors.Join(step.Do(ctx, s), s.Clock.Sleep(ctx, beat), s.stop(ctx)); err != nil {
			return false, err
		}
	}
	if owner.Holds() && intruder.Holds() && s.Clock.Now().Before(end) {
		return true, nil
	}
	return false, errors.Join(Release(next).Do(ctx, s), Release(third).Do(ctx, s))
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
