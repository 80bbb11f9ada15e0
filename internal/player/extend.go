package player

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/locks"
)

// errNotExtendable says that the leases of a lock cannot be extended.
var errNotExtendable = errors.New("leases of the lock cannot be extended")

// Extend asks for d more of the innermost lease: from now on, or beyond what is left if the
// lock adds. It returns the lock's error. After any but one about d a holder cannot know that
// it still holds; see Abandon.
//
// A d of 0 or less asks for no lease. Nothing is owed for it, so that what was owed before
// still is, and a lock is right to refuse it in whatever words.
func (c *Client) Extend(ctx context.Context, d time.Duration) error {
	s := c.section()
	if s == nil {
		return ErrNotHolding
	}
	lease, ok := s.lease.(locks.Extender)
	if !ok {
		return errNotExtendable
	}
	e := s.event(histories.Extend)
	began := c.Now()
	owed := c.owes(s, began, d)
	e.TTL = max(owed-began, 1) // 0 would be none that is recorded
	c.longest = max(c.longest, e.TTL)
	if e.TTL != d {
		e.Value = asks(c.ExtendAdds, d)
	}
	return c.call(ctx, s.life, e, func(ctx context.Context, done *histories.Event) error {
		done.Value = ""
		err := lease.Extend(ctx, d)
		switch {
		case err == nil:
			done.Deadline = c.told(s.lease)
		case d <= 0 && locks.Classify(err) == locks.Refused:
			done.Value = histories.Invalid
		case locks.Classify(err) == locks.Refused:
			done.Value = reason(err)
		}
		return err
	}, func() { s.owed = owed })
}

// ExtendRefused asks for d more of what the latest acquire was refused, as a renewal does that was
// begun before anybody looked. It is ErrNotHolding if that was not refused.
func (c *Client) ExtendRefused(ctx context.Context, d time.Duration) error {
	r := c.refused
	if r == nil {
		return ErrNotHolding
	}
	lease, ok := r.lease.(locks.Extender)
	if !ok {
		return errNotExtendable
	}
	e := histories.Event{F: histories.Extend, Key: r.key, Attempt: r.attempt, TTL: max(d, 1)}
	c.longest = max(c.longest, e.TTL)
	return c.call(ctx, r.life, e, func(ctx context.Context, done *histories.Event) error {
		err := lease.Extend(ctx, d)
		if locks.Classify(err) == locks.Refused {
			done.Value = reason(err)
		}
		return err
	}, nil)
}

// owes is when the lease ends that an extend by d asks for.
func (c *Client) owes(s *section, now, d time.Duration) time.Duration {
	switch {
	case d <= 0:
		return s.owed
	case c.ExtendAdds:
		left := s.owed - now
		if told := s.lease.Deadline(); !told.IsZero() { // by its own clock, which may be wrong
			left = min(left, told.Sub(c.Clock.Now()))
		}
		return now + max(left, 0) + d
	}
	return now + d
}

// asks is d as an extend asks for it.
func asks(adds bool, d time.Duration) string {
	if adds && d > 0 {
		return fmt.Sprintf("+%v", d)
	}
	return d.String()
}
