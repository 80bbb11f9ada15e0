package nemesis

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/lockbench/lockbench/cluster"
	"github.com/lockbench/lockbench/histories"
)

// ClockF is a server whose clock jumps.
const ClockF histories.F = "clock"

// ClockJump moves the clock of one server, and every expiry with it (P20, P52). Healing
// moves it back; what expired stays gone.
func ClockJump(c cluster.ClockStepper, node string, by time.Duration) Fault {
	return Fault{
		F: ClockF, Target: node, Plan: fmt.Sprintf("its clock jumps by %v", by),
		Start: func(ctx context.Context) (string, error) { return "", c.StepClock(ctx, node, by) },
		Stop: func(ctx context.Context) (string, error) {
			return fmt.Sprintf("its clock jumps by %v", -by), c.StepClock(ctx, node, -by)
		},
	}
}

func clockKind() Kind {
	return Kind{
		Name: "clock", Title: "the clock of a server of the lock jumps by up to two TTLs, forward or back", F: ClockF,
		Needs: func(c cluster.Cluster) error {
			if _, ok := c.(cluster.ClockStepper); !ok {
				return errors.New("the clocks of its servers cannot be set")
			}
			return nil
		},
		Draw: func(s Scene, r *rand.Rand) (Fault, bool) {
			node, alive := s.server(r)
			c, ok := s.Cluster.(cluster.ClockStepper)
			by := time.Duration(r.Int64N(int64(4*s.TTL))) - 2*s.TTL
			return ClockJump(c, node, by.Round(time.Millisecond)), alive && ok
		},
	}
}
