package nemesis

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/redis/cluster"
)

// ClockF is a server whose clock jumps.
const ClockF histories.F = "clock"

// clocked is a deployment whose servers have clocks that can be set and read.
type clocked interface {
	cluster.Cluster
	cluster.ClockSetter
	cluster.Commander
}

// clockJump sets the clock of one server wrong, and every expiry with it: forward by more
// than what is left of a lease and the key is gone, back and it lives longer (P20, P52).
// Healing sets it right; what expired stays gone, and what was written in between expires
// that much later or earlier. It is over when no key can live longer than it was given.
func clockJump(c clocked, node string, clock Clock, by time.Duration) Fault {
	s := &serverClock{c: c, node: node, clock: clock}
	return s.outlived(jumpingClock(ClockF, node, s, clock.Now, by))
}

// serverClock is the clock of one server, as TIME shows it.
type serverClock struct {
	c     clocked
	node  string
	clock Clock // the right one

	set    time.Time // when it was set wrong; zero: it is right
	offset time.Duration
	rate   float64
}

func (s *serverClock) Set(ctx context.Context, offset time.Duration, rate float64) error {
	if err := s.c.SetClock(ctx, s.node, offset, rate); err != nil {
		return err
	}
	s.set, s.offset, s.rate = s.clock.Now(), offset, rate
	return nil
}

func (s *serverClock) Read(ctx context.Context) (time.Time, error) {
	reply, err := s.c.Do(ctx, s.node, "TIME")
	if err != nil {
		return time.Time{}, err
	}
	return cluster.ReadTime(reply)
}

// ahead is by how much it is before the right time.
func (s *serverClock) ahead() time.Duration {
	if s.set.IsZero() {
		return 0
	}
	return s.offset + time.Duration((s.rate-1)*float64(s.clock.Now().Sub(s.set)))
}

// outlived lets a fault of the clock last until the keys are gone that live longer than they were given: what was
// written while the clock was ahead. A server that is dead, or was meanwhile, is left alone: it starts again with the right clock.
func (s *serverClock) outlived(f Fault) Fault {
	heal := f.Stop
	f.Stop = func(ctx context.Context) (seen string, err error) {
		ahead := s.ahead()
		switch {
		case !s.c.Alive(s.node):
			seen = "the server is dead, and starts again with the right clock"
		case s.isRight(ctx):
			seen = "the server was started again, with the right clock"
		default:
			seen, err = heal(ctx)
		}
		if err != nil || ahead <= 0 {
			return seen, err
		}
		return seen, s.clock.Sleep(ctx, ahead)
	}
	return f
}

// isRight reports whether the clock can be seen to be right although it was set wrong: it shows the right time, and not the wrong one that
// it would show by now.
func (s *serverClock) isRight(ctx context.Context) bool {
	before := s.ahead()
	is, err := readClock(ctx, s, s.clock.Now)
	after := s.ahead()
	slack := is.within + clockSlack
	wrong := is.ahead >= min(before, after)-slack && is.ahead <= max(before, after)+slack
	return err == nil && is.ahead.Abs() <= slack && !wrong
}

// asClocked says that the clocks of a deployment can be set, and how, or why not.
func asClocked(c cluster.Cluster) (_ clocked, how string, err error) {
	s, ok := c.(clocked)
	if !ok {
		return nil, "", errors.New("the clocks of its servers cannot be set")
	}
	how, err = s.Clocks()
	return s, how, err
}

// The keys are listed by KEYS, since SCAN may give one twice. Fields end, too, on servers that know HPTTL.
const expireEarlier = `local by, moved, gone = tonumber(ARGV[1]), 0, 0
local function count(ttl)
  moved = moved + 1
  if ttl <= by then gone = gone + 1 end
end
for _, key in ipairs(redis.call('KEYS', '*')) do
  if redis.call('TYPE', key).ok == 'hash' then
    for _, field in ipairs(redis.call('HKEYS', key)) do
      local ttl = redis.pcall('HPTTL', key, 'FIELDS', 1, field)[1]
      if ttl and ttl >= 0 then
        redis.call('HPEXPIRE', key, math.max(ttl - by, 0), 'FIELDS', 1, field)
        count(ttl)
      end
    end
  end
  local ttl = redis.call('PTTL', key)
  if ttl >= 0 then
    redis.call('PEXPIRE', key, ttl - by)
    count(ttl)
  end
end
return {moved, gone}`

// logicalClockJump does to the keys of a server what a jump of its clock forward does:
// every expiry comes nearer by that much (P52). TIME does not change, and keys written
// later live as long as ever, so that it is over at once and there is nothing to heal.
func logicalClockJump(c cluster.Commander, node string, by time.Duration) Fault {
	return Fault{
		F: ClockF, Target: node, Plan: fmt.Sprintf("its clock jumps by %v (logical: its expiries move, TIME does not)", by),
		Start: func(ctx context.Context) (string, error) {
			if by < time.Millisecond {
				return "", &IncapableError{Want: fmt.Sprintf("let the clock of a server jump by %v: a logical jump goes forward by 1ms or more", by)}
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

// ErrNoClocks says that the clocks of a deployment's servers cannot be set, and that moving
// their keys' expiries instead would not show what is asked for.
var ErrNoClocks = errors.New("the clocks of these servers cannot be set")

// clockAheadKind is clockKind where a jump is never logical. It is for schedules alone.
func clockAheadKind() Kind {
	return Kind{
		Name: "clock-ahead", Title: "the clock of a server of the lock jumps, and expiries that merely move are not enough", F: ClockF, Clocks: true,
		Unsupported: clockRateKind().Unsupported,
		Hits:        HitsServer, Amount: ByTime,
		Begins: "the clock of {server} is ahead by {by}",
		Ends:   "the clock of {server} is set right",
		Make: func(s Scene, t Target) (Fault, error) {
			_, _, err := asClocked(s.Cluster)
			if err != nil {
				return Fault{}, fmt.Errorf("%w: %w", ErrNoClocks, err)
			}
			return clockKind().Make(s, t)
		},
	}
}

func clockKind() Kind {
	return Kind{
		Name: "clock", F: ClockF, Clocks: true,
		Title: "the clock of a server of the lock jumps by up to two TTLs, forward or back; logical, forward only, where it cannot be set",
		Unsupported: func(c cluster.Cluster) error {
			if _, _, err := asClocked(c); err != nil && needsCommands(c) != nil {
				return err
			}
			return nil
		},
		Means: func(c cluster.Cluster) string {
			_, how, err := asClocked(c)
			if err != nil {
				return "logical, forward only: expiries move, TIME does not"
			}
			return how
		},
		Hits: HitsServer, Amount: ByTime,
		Begins: "the clock of {server} jumps by {by}",
		Ends:   "the clock of {server} is set right",
		Make: func(s Scene, t Target) (Fault, error) {
			node, err := t.node()
			if err != nil {
				return Fault{}, err
			}
			if c, _, err := asClocked(s.Cluster); err == nil {
				return clockJump(c, node, s.Clock, t.By), nil
			}
			c, err := capable[cluster.Commander](s, wantWallClock)
			return logicalClockJump(c, node, t.By), err
		},
		Pick: func(s Scene, r *rand.Rand) (Target, bool) {
			t, alive := pickServer(s, r)
			t.By = s.drawJump(r)
			if _, _, err := asClocked(s.Cluster); err != nil {
				t.By = t.By.Abs() // a logical jump goes forward
			}
			return t, alive
		},
	}
}
