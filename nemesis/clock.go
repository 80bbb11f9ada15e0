package nemesis

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
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

// The keys are listed by KEYS, since SCAN may give one twice.
const expireEarlier = `local by, moved, gone = tonumber(ARGV[1]), 0, 0
for _, key in ipairs(redis.call('KEYS', '*')) do
  local ttl = redis.call('PTTL', key)
  if ttl >= 0 then
    redis.call('PEXPIRE', key, ttl - by)
    moved = moved + 1
    if ttl <= by then gone = gone + 1 end
  end
end
return {moved, gone}`

// LogicalClockJump does to the keys of a server what a jump of its clock forward does:
// every expiry comes nearer by that much (P52). TIME does not change, and keys written
// later live as long as ever, so that it is over at once and there is nothing to heal.
func LogicalClockJump(c cluster.Commander, node string, by time.Duration) Fault {
	return Fault{
		F: ClockF, Target: node, Plan: fmt.Sprintf("its clock jumps by %v (logical: its expiries move, TIME does not)", by),
		Start: func(ctx context.Context) (string, error) {
			if by < time.Millisecond {
				return "", fmt.Errorf("a logical jump goes forward by 1ms or more, got %v", by)
			}
			reply, err := c.Do(ctx, node, "EVAL", expireEarlier, "0", strconv.FormatInt(by.Milliseconds(), 10))
			if err != nil {
				return "", err
			}
			if len(reply.Elems) != 2 {
				return "", fmt.Errorf("want two counts, got %v", reply)
			}
			return fmt.Sprintf("logical: %s of %s with a TTL expired", reply.Elems[1].Text(), reply.Elems[0].Text()), nil
		},
	}
}

func clockKind() Kind {
	return Kind{
		Name: "clock", Title: "the clock of a server of the lock jumps by up to two TTLs, forward or back", F: ClockF,
		Needs: func(c cluster.Cluster) error {
			_, steps := c.(cluster.ClockStepper)
			if !steps && needsCommands(c) != nil {
				return errors.New("the clocks of its servers cannot be set")
			}
			return nil
		},
		Means: func(c cluster.Cluster) string {
			if _, ok := c.(cluster.ClockStepper); ok {
				return ""
			}
			return "logical, forward only: expiries move, TIME does not"
		},
		Draw: func(s Scene, r *rand.Rand) (Fault, bool) {
			node, alive := s.server(r)
			by := (time.Duration(r.Int64N(int64(4*s.TTL))) - 2*s.TTL).Round(time.Millisecond)
			if c, ok := s.Cluster.(cluster.ClockStepper); ok {
				return ClockJump(c, node, by), alive
			}
			c, ok := s.Cluster.(cluster.Commander)
			return LogicalClockJump(c, node, max(by.Abs(), time.Millisecond)), alive && ok
		},
	}
}
