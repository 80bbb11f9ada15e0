package workloads

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/player"
)

// Load is what all random loads have in common: each of N clients plays rounds on keys that
// it draws, Rounds times, or until Limit has passed if there is one, with think times drawn
// from the seed.
type Load struct {
	N      int
	Rounds int
	Limit  time.Duration
	// Rate is how many rounds begin per second, of all clients together and on average; a
	// client whose round takes longer begins the next at once and does not catch up. 0
	// means as many as think times of up to a fiftieth of the TTL allow.
	Rate float64
	// Section is the longest time that a client works inside a section; 0 means a
	// hundredth of the TTL, so that without faults no lease ends inside a section.
	Section time.Duration
	// Like is the seed of a run that draws once what its clients do (player.Drawn), and whose choice is to be
	// made here, too. 0 means the run's own.
	Like uint64
}

// patience is how many TTLs a client waits for the lock before it gives up for good.
const patience = 10

// extendsOneIn says how often a client extends its lease: once in so many sections, and then again
// as often.
const extendsOneIn = 4

// Clients is N.
func (l Load) Clients() int { return l.N }

// client is one client of a load.
type client struct {
	*player.Client
	stage   *player.Stage
	section time.Duration // the longest
	pause   time.Duration // between rounds, the longest
	next    time.Duration // when the next round begins, if there is a rate
	rate    time.Duration // mean time between the beginnings of rounds; 0: there is no rate
}

func (l Load) client(s *player.Stage, c *player.Client) *client {
	p := &client{Client: c, stage: s, section: l.Section, pause: s.TTL / 50}
	if p.section == 0 {
		p.section = s.TTL / 100
	}
	if l.Rate > 0 {
		p.rate = time.Duration(float64(l.N) / l.Rate * float64(time.Second))
	}
	return p
}

// each lets the clients go, one goroutine each, and waits for all of them.
func (l Load) each(s *player.Stage, f func(*client) error) error {
	errs := make([]error, len(s.Clients))
	var wg sync.WaitGroup
	for i, c := range s.Clients {
		wg.Go(func() { errs[i] = f(l.client(s, c)) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// errEnough says that a client has waited for a lock for so long that it gives up for
// good, as the judge of deadlock freedom has seen enough then, too; or that the stage has.
var errEnough = errors.New("waited long enough")

// play lets each client play round after round.
func (l Load) play(ctx context.Context, s *player.Stage, round func(context.Context, *client, string) error) error {
	return l.each(s, func(p *client) error {
		err := l.rounds(ctx, p, round)
		if errors.Is(err, errEnough) {
			return nil
		}
		return err
	})
}

func (l Load) rounds(ctx context.Context, p *client, round func(context.Context, *client, string) error) error {
	if err := p.rest(ctx); err != nil {
		return err
	}
	end := p.Now() + l.Limit // the client's own clock may be wrong
	for n := 0; n < l.Rounds || l.Limit > 0; n++ {
		if l.Limit > 0 && p.Now() >= end || p.stage.Satisfied() {
			return nil
		}
		if err := round(ctx, p, p.key()); err != nil {
			return err
		}
		if err := errors.Join(p.stage.Stopped(ctx), p.rest(ctx)); err != nil {
			return err
		}
	}
	return nil
}

// key draws a key.
func (p *client) key() string {
	if len(p.stage.Keys) == 1 {
		return p.stage.Keys[0].Name
	}
	return p.stage.Keys[p.Rand.IntN(len(p.stage.Keys))].Name
}

// draw is a time of up to most.
func (p *client) draw(most time.Duration) time.Duration {
	return time.Duration(p.Rand.Int64N(int64(most)))
}

// work thinks for up to most and then may prolong; see there.
func (p *client) work(ctx context.Context, most time.Duration) (mayGoOn bool, err error) {
	if err := p.think(ctx, most); err != nil {
		return false, err
	}
	return p.prolong(ctx, most)
}

// prolong extends the lease at times, where the lock offers it, and thinks for up to most after
// each. It says whether the client may go on: one that was not told that its lease is extended
// cannot know that it still holds, and does nothing but give it back.
//
// It draws from a source of its own, so that of locks that cannot a seed decides the same.
func (p *client) prolong(ctx context.Context, most time.Duration) (mayGoOn bool, err error) {
	for p.Extends && p.Whim.IntN(extendsOneIn) == 0 {
		if p.Extend(ctx, p.stage.TTL) != nil { // recorded
			return false, nil
		}
		if err := p.Clock.Sleep(ctx, time.Duration(p.Whim.Int64N(int64(most)))); err != nil {
			return false, err
		}
	}
	return true, nil
}

// think stands still for a time of up to most.
func (p *client) think(ctx context.Context, most time.Duration) error {
	return p.Clock.Sleep(ctx, p.draw(most))
}

// rest waits for the next round.
func (p *client) rest(ctx context.Context) error {
	if p.rate == 0 {
		return p.think(ctx, p.pause)
	}
	now := p.Now()
	p.next = max(p.next, now) + p.draw(2*p.rate)
	return p.Clock.Sleep(ctx, p.next-now)
}

// await tries to get the lock on key until it has it. Every try is recorded.
func (p *client) await(ctx context.Context, mode histories.Mode, key string) error {
	enough := p.Now() + patience*p.stage.TTL
	for p.AcquireAs(ctx, mode, key, p.stage.TTL) != nil {
		if p.Now() > enough || p.stage.Satisfied() {
			return errEnough
		}
		if err := errors.Join(p.stage.Stopped(ctx), p.think(ctx, p.pause)); err != nil {
			return err
		}
	}
	return nil
}
