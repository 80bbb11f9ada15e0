package workloads

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Contend is random load: each of N clients acquires the lock, increments the
// register by read and write, and releases, with think times drawn from the seed: Rounds
// times, or until Limit has passed if there is one.
type Contend struct {
	N      int
	Rounds int
	Limit  time.Duration
	// Section is the longest time between read and write; 0 means a hundredth of the TTL,
	// so that without faults no lease ends inside a section.
	Section time.Duration
}

// patience is how many TTLs a client waits for the lock before it gives up for good.
const patience = 10

// Clients is N.
func (w Contend) Clients() int { return w.N }

// Run lets the clients go and waits for all of them.
func (w Contend) Run(ctx context.Context, s *Stage) error {
	errs := make([]error, len(s.Clients))
	var wg sync.WaitGroup
	for i, c := range s.Clients {
		wg.Go(func() { errs[i] = w.client(ctx, s, c) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

func (w Contend) client(ctx context.Context, s *Stage, c *Client) error {
	section := w.Section
	if section == 0 {
		section = s.TTL / 100
	}
	think := func(most time.Duration) error {
		return c.Clock.Sleep(ctx, time.Duration(c.Rand.Int64N(int64(most))))
	}
	if err := think(s.TTL / 50); err != nil {
		return err
	}
	end := c.Clock.Now().Add(w.Limit)
	for round := 0; round < w.Rounds || w.Limit > 0; round++ {
		if w.Limit > 0 && !c.Clock.Now().Before(end) {
			return nil
		}
		enough := c.Clock.Now().Add(patience * s.TTL)
		for c.Acquire(ctx, s.Key, s.TTL) != nil {
			if c.Clock.Now().After(enough) {
				return nil // the judge of deadlock freedom has seen enough, too
			}
			if err := errors.Join(s.stop(ctx), think(s.TTL/50)); err != nil {
				return err
			}
		}
		_ = c.Read(ctx) // recorded
		if err := think(section); err != nil {
			return err
		}
		_ = c.Write(ctx)   // recorded
		_ = c.Release(ctx) // recorded
		if err := errors.Join(s.stop(ctx), think(s.TTL/50)); err != nil {
			return err
		}
	}
	return nil
}
