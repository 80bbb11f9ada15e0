package workloads

import (
	"context"
	"math"
	"time"

	"github.com/lockbench/lockbench/internal/player"
)

func lotteryKind() Kind {
	return Kind{
		Name: "lottery", Title: "N clients try once in each round, as instances of a cron job: one wins, losers walk away",
		Lock: "setnx-px-lua",
		New:  func(l Load) player.Workload { return lotteryLoad{l} },
	}
}

// lotteryLoad is a job that only one of many instances shall run, as users of Redis locks do
// with their cron jobs: all instances wake up at about the same time and try the lock
// once. Losers walk away. The winner looks whether the round has been drawn, works, and
// draws it: it writes the round's number. Each round must be drawn once.
//
// The look is needed with the best of locks: who wakes up so late that the winner has
// released already is granted the lock, too, and would run the job again (P49).
//
// Rate counts tries, one of each client in a round.
type lotteryLoad struct{ Load }

// Run lets the clients go and waits for all of them.
func (w lotteryLoad) Run(ctx context.Context, s *player.Stage) error {
	begin := s.Prober.Now() // no client's own clock, which may be wrong
	return w.each(s, func(p *client) error {
		period := max(s.TTL/10, 2*p.section)
		if p.rate > 0 {
			period = p.rate
		}
		for round := 0; round < w.Rounds || w.Limit > 0; round++ {
			due := time.Duration(round) * period
			if w.Limit > 0 && due >= w.Limit || s.Satisfied() {
				return nil
			}
			at := begin + due + p.draw(min(p.section, period))
			now := p.Now()
			if now > begin+due+period {
				continue // it was busy, or paused, all the round
			}
			if err := p.Clock.Sleep(ctx, max(0, at-now)); err != nil {
				return err
			}
			if err := p.try(ctx, p.key(), int64(round)+1); err != nil {
				return err
			}
		}
		return nil
	})
}

// try plays one round of a lottery.
func (p *client) try(ctx context.Context, key string, round int64) error {
	if p.Acquire(ctx, key, p.stage.TTL) != nil {
		return p.stage.Stopped(ctx)
	}
	if p.Read(ctx) == nil && p.drawn() < round {
		mayGoOn, err := p.work(ctx, p.section)
		if err != nil {
			return err
		}
		if mayGoOn {
			_ = p.Draw(ctx, round)
		}
	}
	_ = p.Release(ctx)
	return p.stage.Stopped(ctx)
}

// drawn is the last round that the client has seen drawn; none if it holds no lock.
func (p *client) drawn() int64 {
	if _, seen, ok := p.Held(); ok {
		return seen.Value
	}
	return math.MaxInt64
}
