package player

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/lockbench/lockbench/internal/schedule"
)

// calls counts the calls that a client makes by the steps of a script. It is safe for concurrent use.
type calls struct{ begun, ended atomic.Int64 }

// in reports whether the client's n-th call has begun, and the one after it has not.
func (c *calls) in(n int) bool { return c.begun.Load() == int64(n) }

// counted is a call that is counted, and that begins when the step says so.
func (s *Stage) counted(c *Client, p schedule.Step, call func(context.Context) error) func(context.Context) error {
	n := s.calls[c.Name]
	if n == nil {
		return call // it is no step of a script that makes it
	}
	return func(ctx context.Context) error {
		if p.After != nil {
			if err := s.callEnds(ctx, c.Clock, *p.After); err != nil {
				return err
			}
		}
		if k := n.begun.Add(1); s.Called != nil {
			defer s.Called(c.Name, int(k))()
		}
		defer n.ended.Add(1)
		return call(ctx)
	}
}

// longestCall is how many TTLs a step waits for the end of another client's call.
const longestCall = 20

// callEnds waits until a client's call has ended. That it does not in a long time is a *MissedError.
func (s *Stage) callEnds(ctx context.Context, clock Clock, r schedule.Ref) error {
	n := s.calls[r.Who]
	if n == nil {
		return fmt.Errorf("the schedule names client %q, and there are %d clients", r.Who, len(s.Clients))
	}
	for end := clock.Now().Add(longestCall*s.TTL + s.Slack); n.ended.Load() < int64(r.Op); {
		if clock.Now().After(end) {
			return &MissedError{Why: fmt.Sprintf("call %s did not end within %d TTLs", r, longestCall)}
		}
		if err := errors.Join(s.Stopped(ctx), clock.Sleep(ctx, max(s.TTL/200, time.Millisecond))); err != nil {
			return err
		}
	}
	return nil
}

// lane lets a client make calls by itself.
func (s *Stage) lane(ctx context.Context, p schedule.Step) error {
	c, err := s.client(p.Who[0])
	if err != nil {
		return err
	}
	var all []func(context.Context) error
	for _, step := range p.Lane {
		call := func(ctx context.Context) error { return c.Clock.Sleep(ctx, s.span(step.For)) }
		if step.Verb != schedule.Sleep {
			step.Free = true // one call, and nothing is proven by it
			if call, err = s.callOf(c, step); err != nil {
				return err
			}
			call = s.counted(c, step, call)
		}
		all = append(all, call)
	}
	return s.begin(ctx, c, func(ctx context.Context) error {
		for _, call := range all {
			err := call(ctx) // recorded
			if missed, ok := errors.AsType[*MissedError](err); ok {
				return missed
			}
			if s.Hangs.Any() || ctx.Err() != nil || errors.Is(err, errCrashed) {
				return err
			}
			if err := errors.Join(s.Stopped(ctx), c.Clock.Sleep(ctx, beat)); err != nil {
				return err
			}
		}
		return nil
	})
}
