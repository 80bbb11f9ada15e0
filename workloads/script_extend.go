package workloads

import (
	"context"
	"errors"
	"fmt"

	"github.com/lockbench/lockbench/locks"
)

// Extend lets a holder extend its lease by a part of the TTL. If it is refused, or does not
// learn what became of that, it takes the lock for lost and walks away.
func Extend(name string, ttls float64) Step {
	return call(fmt.Sprintf("%s extends its lease by %v of the TTL, and walks away unless it is told that it may", name, ttls), name, extending(ttls))
}

// ExtendByNothing lets a holder extend its lease by no time, or by less than none. A holder
// that is refused goes on as before.
func ExtendByNothing(name string, ttls float64) Step {
	return call(fmt.Sprintf("%s extends its lease by %v TTLs, and goes on", name, ttls), name, extending(ttls))
}

// ExtendResent lets a holder extend its lease. The server executes the command, its reply is
// lost, and the command is sent again.
func ExtendResent(name string, ttls float64) Step {
	extend := Extend(name, ttls)
	return Step{extend.Text + "; the reply is lost, and the command is sent again", func(ctx context.Context, s *Stage) error {
		return s.twice(ctx, name, extend)
	}}
}

// AcquireWithinTTLs lets a client try until it has the lock, for a number of TTLs at most.
func AcquireWithinTTLs(name string, ttls float64) Step {
	return call(fmt.Sprintf("%s waits for the lock, for %v TTLs", name, ttls), name, func(ctx context.Context, s *Stage, c *Client) error {
		return s.wait(ctx, c, s.ttls(ttls))
	})
}

// StopAtDeadline lets a holder look at its own clock: if the lease that it was told of is over,
// it walks away.
func StopAtDeadline(name string) Step {
	return call(name+" walks away if the lease that it was told of is over", name, func(_ context.Context, _ *Stage, c *Client) error {
		if s := c.section(); s != nil && !s.lease.Deadline().IsZero() && !c.Clock.Now().Before(s.lease.Deadline()) {
			c.Abandon("")
		}
		return nil
	})
}

// WalkAway ends a client's belief in all that it holds, without a word to the lock.
func WalkAway(name string) Step {
	return call(name+" walks away without a word", name, func(_ context.Context, _ *Stage, c *Client) error {
		c.Abandon("")
		return nil
	})
}

// extending extends by a part of the TTL.
func extending(ttls float64) func(context.Context, *Stage, *Client) error {
	return func(ctx context.Context, s *Stage, c *Client) error {
		err := c.Extend(ctx, s.ttls(ttls))
		if _, invalid := errors.AsType[*locks.InputError](err); err != nil && !invalid && ttls > 0 {
			c.Abandon("")
		}
		return err
	}
}
