package player

import (
	"context"
	"errors"
	"fmt"

	"github.com/lockbench/lockbench/internal/schedule"
	"github.com/lockbench/lockbench/internal/wire"
	"github.com/lockbench/lockbench/nemesis"
)

// letGo ends the oldest rule of a client, if there is one, and waits for the client's call. If the
// call of a command had ended before, it waits until the servers have answered.
func (s *Stage) letGo(ctx context.Context, p schedule.Step) error {
	c, err := s.client(p.Who[0])
	if err != nil {
		return err
	}
	end := func(err error) error {
		if p.Free {
			return err
		}
		return errors.Join(err, s.finish(ctx, c))
	}
	rules := s.rules[c.Name]
	if len(rules) == 0 {
		return end(nil)
	}
	r := rules[0]
	s.forget(c, r)
	switch {
	case !r.started:
		r.release()
		return end(nil)
	case !s.Nemesis.InForce(nemesis.HoldF, c.Name):
		return end(nil)
	case !r.reply && r.met != nil && r.met.over():
		return end(s.land(ctx, c, r))
	}
	return end(s.heal(ctx, nemesis.HoldF, c.Name))
}

// land lets commands go on whose call has ended, and waits until the servers have answered them.
// Nobody hears the answers.
func (s *Stage) land(ctx context.Context, c *Client, r *rule) error {
	answers := make([]*wire.Hold, len(r.nodes))
	for i, node := range r.nodes {
		d, err := s.deciding(node)
		if err != nil {
			return err
		}
		landed := d.writes()
		landed.Before = nil
		answers[i] = s.Cluster.Link(s.Process(c), node).HoldReply(landed)
	}
	defer func() {
		for _, a := range answers {
			a.Release()
		}
	}()
	if err := s.heal(ctx, nemesis.HoldF, c.Name); err != nil {
		return err // also if a connection has ended meanwhile: then no answer comes
	}
	late := s.Clock.After(longestCall*s.TTL + s.Slack)
	for _, a := range answers {
		select {
		case <-a.Seen():
		case <-late:
			return &MissedError{Why: fmt.Sprintf("what was held up of %s, and was let go when its call had ended, was not answered within %d TTLs", c.Name, longestCall)}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}
