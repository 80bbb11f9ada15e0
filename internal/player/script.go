package player

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/schedule"
)

// Script plays a schedule: its steps in order, gated on what was observed and never on time, so
// that it ends the same way on every backend.
type Script struct{ schedule.Schedule }

// beat separates steps, so that what happened first also has the lower time.
const beat = time.Millisecond

// Clients is how many there are.
func (p Script) Clients() int { return p.Schedule.Clients }

// Run plays the steps. After a step that missed the lock it goes on for as long as it can.
func (p Script) Run(ctx context.Context, s *Stage) error {
	if s.Called != nil {
		defer func() { s.Called("", 0) }()
	}
	missed := false
	s.Threads, s.calls = p.Threads, map[string]*calls{}
	s.hurried = s.Late != nil
	for _, c := range s.Clients {
		s.calls[c.Name] = &calls{}
	}
	for i, step := range p.Steps {
		if err := s.Stopped(ctx); err != nil {
			return err
		}
		err := s.play(ctx, step)
		if s.Hangs.Any() { // whatever the step found, nothing can follow upon it
			return nil
		}
		if err != nil {
			failed := &StepError{N: i + 1, Step: step, Err: err}
			miss, ok := errors.AsType[*MissedError](err)
			switch {
			case ok:
				missed = true
				s.miss(failed.Error(), miss.Key)
			case missed && s.Stopped(ctx) == nil:
				return nil // it builds on the step that missed
			default:
				return failed
			}
		}
		if step.Verb == schedule.At {
			continue // a rule alone does nothing
		}
		if err := s.Clock.Sleep(ctx, beat); err != nil {
			return err
		}
		s.sight()
		if s.Done != nil { // after the beat: what a step leaves to others, such as a link that is cut, is done by then
			if err := s.Done(ctx, step); err != nil {
				return fmt.Errorf("after step %d, %q: %w", i+1, step, err)
			}
		}
	}
	return nil
}

// play plays one step.
func (s *Stage) play(ctx context.Context, p schedule.Step) error {
	s.lateAfterHold(p)
	if s.hurried = s.hurried && letsNoTimePass(p); s.hurried {
		defer s.lateForLeases(s.leases())
	}
	switch p.Verb {
	case schedule.At:
		return s.arm(ctx, p)
	case schedule.LetGo:
		return s.letGo(ctx, p)
	case schedule.Wait:
		return s.waitFor(ctx, p)
	case schedule.Start:
		return s.startFault(ctx, p)
	case schedule.Stop:
		return s.stopFault(ctx, p)
	case schedule.Sleep:
		return s.Clock.Sleep(ctx, s.span(p.For))
	case schedule.Set:
		return s.set(ctx, p.What, p.N)
	case schedule.Audit:
		return s.audit(ctx)
	case schedule.Crowd:
		return s.crowd(ctx, p.Who)
	case schedule.Meet:
		return s.meet(ctx, p.Who)
	case schedule.Outlive:
		return s.outliveAll(ctx, p.Who)
	case schedule.Lane:
		return s.lane(ctx, p)
	}
	return s.operate(ctx, p)
}

// span is how long a span is here.
func (s *Stage) span(p *schedule.Span) time.Duration {
	if p == nil {
		return s.TTL
	}
	return p.Of(s.TTL, s.Slack)
}

// miss records that a step missed the lock; key is as that of a MissedError.
func (s *Stage) miss(why, key string) {
	s.Recorder.Record(histories.Event{
		Process: histories.Nemesis, Worker: histories.Nemesis, Type: histories.Info, F: histories.Missed, Key: key, Value: why,
	})
}
