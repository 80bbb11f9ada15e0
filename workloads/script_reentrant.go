package workloads

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/locks"
	"github.com/lockbench/lockbench/nemesis"
)

// Needs says why a script cannot be played with a lock, or nil.
func (p Script) Needs(lock locks.Spec) error {
	if p.Reenters && !lock.Reenters {
		return fmt.Errorf("its clients re-enter the lock, and lock %s cannot be re-entered (lockbench list locks)", lock.Name)
	}
	if p.Extends && !lock.Extends {
		return fmt.Errorf("its clients extend their leases, and the leases of lock %s cannot be extended (lockbench list locks)", lock.Name)
	}
	if p.Waits && !lock.Waits {
		return fmt.Errorf("its clients wait for the lock, and lock %s tries once and does not wait (lockbench list locks)", lock.Name)
	}
	if p.ReleasesTwice && !lock.Promises.ReleasesTwice {
		return fmt.Errorf("its clients release twice, and lock %s does not say that it takes that", lock.Name)
	}
	if p.Queues && !lock.Promises.Fair {
		return fmt.Errorf("its clients count on being served in their order, and lock %s does not promise that", lock.Name)
	}
	return nil
}

// AcquireReentrant lets a client try once to get a lock that it may enter again.
func AcquireReentrant(name string) Step {
	return acquiring(name+" tries to acquire the lock", name, 1, reentrant(1))
}

// Reenter lets a holder acquire the lock again.
func Reenter(name string) Step {
	return call(name+" enters the lock again", name, holding(reentrant(1)))
}

// ReenterBriefly lets a holder acquire the lock again, for a part of the TTL.
func ReenterBriefly(name string, ttls float64) Step {
	return call(fmt.Sprintf("%s enters the lock again, for %v of the TTL", name, ttls), name, holding(reentrant(ttls)))
}

// ReenterOrStop lets a holder acquire the lock again. If it is refused, it takes the lock for
// lost and walks away.
func ReenterOrStop(name string) Step {
	return call(name+" enters the lock again, and walks away if it is refused", name, holding(func(ctx context.Context, s *Stage, c *Client) error {
		err := reentrant(1)(ctx, s, c)
		if errors.Is(err, locks.ErrTaken) {
			c.Abandon("")
		}
		return err
	}))
}

// AskCount lets a client ask the lock how often the client holds it.
func AskCount(name string) Step {
	return call(name+" asks how often it holds the lock", name, func(ctx context.Context, s *Stage, c *Client) error {
		return c.Count(ctx, s.name())
	})
}

// AcquireResent lets a client try once to get a lock that it may enter again. The server
// executes the command, its reply is lost, and the command is sent again.
func AcquireResent(name string) Step {
	acquire := AcquireReentrant(name)
	return Step{acquire.Text + "; the reply is lost, and the command is sent again", func(ctx context.Context, s *Stage) error {
		return s.twice(ctx, name, acquire)
	}}
}

// twice plays a step in which a client sends a command that changes what the server holds of
// the lock. The server executes it, its reply is lost, and it is sent again.
func (s *Stage) twice(ctx context.Context, name string, step Step) error {
	d, err := s.deciding(s.Cluster.Primary(0))
	if err != nil {
		return err
	}
	if err := s.Nemesis.Start(ctx, nemesis.Duplicate(name, s.primary(name), d.writes())); err != nil {
		return err
	}
	if err := step.Do(ctx, s); err != nil {
		return err
	}
	return s.heal(ctx, nemesis.DuplicateF, name)
}

// UseAgain lets a client acquire and release, again and again, for a number of TTLs.
func UseAgain(name string, ttls float64) Step {
	return call(fmt.Sprintf("%s acquires and releases again and again, for %v TTLs", name, ttls), name, func(ctx context.Context, s *Stage, c *Client) error {
		for end := c.Now() + s.ttls(ttls); c.Now() < end; {
			if err := reentrant(1)(ctx, s, c); err == nil {
				_ = c.Release(ctx) // recorded
			}
			if err := errors.Join(s.stop(ctx), c.Clock.Sleep(ctx, max(s.TTL/4, time.Millisecond))); err != nil {
				return err
			}
		}
		return nil
	})
}

// reentrant acquires for a part of the TTL.
func reentrant(ttls float64) func(context.Context, *Stage, *Client) error {
	return func(ctx context.Context, s *Stage, c *Client) error {
		return c.AcquireAs(ctx, histories.Reentrant, s.name(), s.ttls(ttls))
	}
}

// holding is f for a client that holds the lock; one that does not skips it.
func holding(f func(context.Context, *Stage, *Client) error) func(context.Context, *Stage, *Client) error {
	return func(ctx context.Context, s *Stage, c *Client) error {
		if !c.Holds() {
			return ErrNotHolding
		}
		return f(ctx, s, c)
	}
}
