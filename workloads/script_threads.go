package workloads

import (
	"context"
	"fmt"

	"github.com/lockbench/lockbench/nemesis"
	"github.com/lockbench/lockbench/wire"
)

// ReleasesInterleave lets two threads of one process release at the same time, both by WATCH
// and GET. Both have asked for the key, first the one and then the other, and the answers are
// held up. See FirstAnswerArrives and AnswersArrive.
//
// Each command is let through when the one before it was seen: the order is the same on one
// connection as on two, and on one no answer overtakes another.
func ReleasesInterleave(process, first, second string) Step {
	text := fmt.Sprintf("%s and %s release; both watch the key and have asked for it, and what the server answers is held up", first, second)
	return Step{text, func(ctx context.Context, s *Stage) error {
		both, err := s.clients(first, second)
		if err != nil {
			return err
		}
		link := s.primary(process)
		watch, err := s.onLock("WATCH")
		if err != nil {
			return err
		}
		get := watch
		get.Names = []string{"GET"}

		firstWatched := link.HoldReply(watch)
		if err := s.begin(ctx, both[0], both[0].Release); err != nil {
			return err
		}
		if err := s.seen(ctx, both[0], firstWatched); err != nil {
			return err
		}
		secondWatched := link.HoldReply(watch)
		if err := s.begin(ctx, both[1], both[1].Release); err != nil {
			return err
		}
		if err := s.matched(ctx, both[1], secondWatched); err != nil {
			return err
		}
		s.armed = map[string]*wire.Hold{}
		for i, watched := range []*wire.Hold{firstWatched, secondWatched} {
			s.armed[both[i].Name] = link.HoldReply(get)
			watched.Release()
			if err := s.matched(ctx, both[i], s.armed[both[i].Name]); err != nil {
				return err
			}
		}
		return s.arrived(ctx, both[0])
	}}
}

// FirstAnswerArrives lets the answer that the first thread waits for arrive, and waits until it
// has gone on to the command of that name. The other's answer is still held up.
func FirstAnswerArrives(process, first, second, then string) Step {
	return Step{fmt.Sprintf("the server's answer reaches %s, which goes on to %s", first, then), func(ctx context.Context, s *Stage) error {
		both, err := s.clients(first, second)
		if err != nil {
			return err
		}
		goesOn := s.primary(process).HoldRequest(wire.Match{Names: []string{then}})
		defer goesOn.Release()
		if err := s.Nemesis.Stop(ctx, nemesis.HoldF, first); err != nil {
			return err
		}
		if err := s.seen(ctx, both[0], goesOn); err != nil {
			return err
		}
		return s.arrived(ctx, both[1])
	}}
}

// AnswersArrive lets the last answer arrive that is held up, and waits for both releases.
func AnswersArrive(first, second string) Step {
	return Step{"the server's answer reaches " + second, func(ctx context.Context, s *Stage) error {
		both, err := s.clients(first, second)
		if err != nil {
			return err
		}
		if err := s.Nemesis.Stop(ctx, nemesis.HoldF, second); err != nil {
			return err
		}
		return s.finishAll(ctx, both)
	}}
}

// arrived waits until the answer to c has come to the rule that holds it up, which is a fault
// from then on.
func (s *Stage) arrived(ctx context.Context, c *Client) error {
	hold := s.armed[c.Name]
	if err := s.seen(ctx, c, hold); err != nil {
		return err
	}
	return s.Nemesis.Start(ctx, nemesis.Hold(c.Name, hold))
}

// matched waits until a rule has found a command of c, which is in a call.
func (s *Stage) matched(ctx context.Context, c *Client, hold *wire.Hold) error {
	for !hold.Matched() {
		select {
		case <-s.pending[c].done:
			hold.Release()
			return fmt.Errorf("%s's call ended and sent no command that the rule could hold", c.Name)
		default:
		}
		if err := s.Clock.Sleep(ctx, beat); err != nil {
			return err
		}
	}
	return nil
}
