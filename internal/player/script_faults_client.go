package player

import (
	"context"
	"errors"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/nemesis"
)

// goesOn is what follows when a fault of a client has ended. After a pause or a partition a lock that tells of the
// loss of a lease has time to tell: whether the holder hears of it before its next step is not left to chance.
func (s *Stage) goesOn(ctx context.Context, kind histories.F, client string) error {
	if kind != nemesis.PauseF && kind != nemesis.PartitionF {
		return nil
	}
	c, err := s.client(client)
	if err != nil {
		return err
	}
	if kind == nemesis.PauseF {
		if err := s.finish(ctx, c); err != nil {
			return err
		}
	}
	return s.hears(ctx, c)
}

// heal ends a fault. That it hit nothing is a *MissedError.
func (s *Stage) heal(ctx context.Context, kind histories.F, target string) error {
	if err := s.Nemesis.Stop(ctx, kind, target); err != nil {
		return err
	}
	if why := s.Nemesis.Missed(); why != "" {
		return &MissedError{Why: why}
	}
	return nil
}

// crashes ends a client in the middle of whatever it does. Its connections break; one that has a process of
// its own is killed.
func (s *Stage) crashes(ctx context.Context, client string) error {
	c, err := s.client(client)
	if err != nil {
		return err
	}
	if err := s.crash(ctx, c); err != nil {
		return err
	}
	for _, fault := range []histories.F{nemesis.HoldF, nemesis.PauseF} {
		if s.Nemesis.InForce(fault, c.Name) { // it ended with its client
			if err := s.Nemesis.Stop(ctx, fault, c.Name); err != nil {
				return err
			}
		}
	}
	return nil
}

// crash ends c and the call that it is in. What the call of a client that is gone returns nobody hears.
func (s *Stage) crash(ctx context.Context, c *Client) error {
	kill := func() error {
		for _, l := range s.links(c.Name) { // its process is ours
			l.Cut()
		}
		return nil
	}
	if c.Process != nil {
		kill = func() error {
			_, err := c.Process.Kill(ctx)
			return err
		}
	}
	return errors.Join(c.Crash(kill), s.finish(ctx, c))
}
