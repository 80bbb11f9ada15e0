package player

import (
	"context"
	"fmt"
	"time"

	"github.com/lockbench/lockbench/histories"
)

// Read reads the protected register inside the critical section.
func (c *Client) Read(ctx context.Context) error {
	s := c.section()
	if s == nil {
		return ErrNotHolding
	}
	return c.call(ctx, s.life, s.event(histories.Read), func(ctx context.Context, done *histories.Event) (err error) {
		if s.seen, err = s.access.Read(ctx); err != nil {
			return err
		}
		done.Version, done.Value, done.Token = s.seen.Version, fmt.Sprint(s.seen.Value), s.access.Token()
		return nil
	}, nil)
}

// Write stores what Read saw, plus one.
func (c *Client) Write(ctx context.Context) error {
	s := c.section()
	if s == nil {
		return ErrNotHolding
	}
	return c.write(ctx, s, histories.Write, s.seen.Value+1)
}

// Draw takes the prize of a round, by writing its number.
func (c *Client) Draw(ctx context.Context, round int64) error {
	s := c.section()
	if s == nil {
		return ErrNotHolding
	}
	return c.write(ctx, s, histories.Draw, round)
}

func (c *Client) write(ctx context.Context, s *section, f histories.F, value int64) error {
	e := s.event(f)
	e.Value = fmt.Sprint(value)
	return c.call(ctx, s.life, e, func(ctx context.Context, done *histories.Event) error {
		state, err := s.access.Write(ctx, value)
		if err != nil {
			return err
		}
		done.Version, done.Token = state.Version, s.access.Token()
		return nil
	}, nil)
}

// Incr increments the register as a counter, in one call: it reads, works for a while and
// writes one more.
func (c *Client) Incr(ctx context.Context, work time.Duration) error {
	s := c.section()
	if s == nil {
		return ErrNotHolding
	}
	return c.callWith(ctx, work+c.Timeout, s.life, s.event(histories.Incr), func(timed context.Context, done *histories.Event) (err error) {
		if s.seen, err = s.access.Read(timed); err != nil {
			return err
		}
		// Work takes as long as it takes: only commands have a time-out, each its own.
		if err := c.Clock.Sleep(ctx, work); err != nil {
			return err
		}
		if !c.alive(s.life) {
			return errCrashed // a dead client sends nothing
		}
		timed, cancel := context.WithTimeout(ctx, c.Clock.In(c.Timeout))
		defer cancel()
		state, err := s.access.Write(timed, s.seen.Value+1)
		if err != nil {
			return err
		}
		done.Value, done.Version, done.Token = fmt.Sprint(s.seen.Value+1), state.Version, s.access.Token()
		return nil
	}, nil)
}
