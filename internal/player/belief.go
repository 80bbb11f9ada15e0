package player

import (
	"context"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/locks"
)

// watch records that the holder of s is told of its loss, and believes it. In virtual time
// that is at the instant at which the lock learnt of it: nobody else acts then.
func (c *Client) watch(ctx context.Context, s *section, w locks.Watched) {
	select {
	case <-s.over:
		return
	case <-ctx.Done():
		return
	case <-w.Lost():
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.within(s) {
		// Leases of one key, one inside the other, are one hold of a lock that can be
		// re-entered: the loss of one is that of all, and their holder stops at once.
		c.disown(histories.Lost, s.key, "")
	}
}

// hears waits until c is told that its lease is lost, for a quarter of a TTL at most. It returns
// at once if c holds nothing, or by a lock that tells of no loss.
func (s *Stage) hears(ctx context.Context, c *Client) error {
	held := c.section()
	if held == nil {
		return nil
	}
	if w, ok := held.lease.(locks.Watched); !ok || w.Lost() == nil {
		return nil
	}
	if w, ok := held.lease.(interface{ Tells() bool }); ok && !w.Tells() {
		return nil
	}
	for end := s.Clock.Now().Add(s.TTL / 4); s.Clock.Now().Before(end); {
		select {
		case <-held.over:
			return nil
		default:
		}
		if err := s.Stopped(ctx); err != nil {
			return err
		}
		if err := s.Clock.Sleep(ctx, max(s.TTL/200, time.Millisecond)); err != nil {
			return err
		}
	}
	return nil
}

// Abandon ends the client's belief in all that it holds, without a word to the lock: it
// never touches any of it again, and its process lives on. How says for people how that
// came; empty: it walks away.
func (c *Client) Abandon(how string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.held != nil {
		c.disown(histories.Abandon, c.held.key, how)
	}
}

// disown ends the sections on key, and records of each by what and how. It is called with
// mu.
func (c *Client) disown(by histories.F, key, how string) {
	var kept []*section // from the innermost on
	for s := c.held; s != nil; s = s.outer {
		if s.key != key {
			kept = append(kept, s)
			continue
		}
		e := s.event(by)
		e.Process, e.Worker, e.Type, e.Value = c.number(), c.Worker, histories.Info, how
		c.Recorder.Record(e)
		close(s.over)
	}
	c.held = nil
	for i := len(kept) - 1; i >= 0; i-- {
		kept[i].outer = c.held
		c.held = kept[i]
	}
	c.holds.Store(c.held != nil)
}

// within reports whether s is the innermost section or one around it. It is called with mu.
func (c *Client) within(s *section) bool {
	for o := c.held; o != nil; o = o.outer {
		if o == s {
			return true
		}
	}
	return false
}
