package player

import (
	"context"
	"time"

	"github.com/lockbench/lockbench/locks"
	"github.com/lockbench/lockbench/nemesis"
)

// Clock is a client's clock. In lengthens a duration so that its end is an instant
// at which nobody else acts; in real time it returns d.
type Clock interface {
	locks.Clock
	In(d time.Duration) time.Duration
}

// Gated is c as a client behind g sees it: whoever looks at the clock, or wakes by it,
// while the client is paused, stands still until the client goes on. Without a gate it is c.
func Gated(c Clock, g *nemesis.Gate) Clock {
	if g == nil {
		return c
	}
	return gated{c, g}
}

type gated struct {
	Clock
	gate *nemesis.Gate
}

func (c gated) Now() time.Time {
	_ = c.pass(context.Background()) // it ends with the pause
	return c.Clock.Now()
}

func (c gated) Sleep(ctx context.Context, d time.Duration) error {
	if err := c.Clock.Sleep(ctx, d); err != nil {
		return err
	}
	return c.pass(ctx)
}

// pass waits at the gate. All who waited there wake at one instant; each then goes on at
// an instant of its own clock, or their order would be left to chance.
func (c gated) pass(ctx context.Context) error {
	if !c.gate.Wait(ctx) {
		return ctx.Err()
	}
	return c.Clock.Sleep(ctx, 1)
}
