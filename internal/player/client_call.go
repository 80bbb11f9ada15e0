package player

import (
	"context"
	"errors"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/resource"
	"github.com/lockbench/lockbench/locks"
)

// reason is why an acquire or extend was refused; empty: somebody else holds the lock, or may.
func reason(err error) string {
	if _, ok := errors.AsType[*locks.InputError](err); ok {
		return histories.Invalid
	}
	if errors.Is(err, locks.ErrTaken) || errors.Is(err, locks.ErrNotHeld) {
		return ""
	}
	return histories.Rejected
}

// call records e, makes the call, and records what became of it; if it succeeded, then
// is called before anything else can happen to the client. life is whose call it is: one of
// a client that has crashed is neither made nor recorded.
func (c *Client) call(ctx context.Context, life int, e histories.Event, f func(context.Context, *histories.Event) error, then func()) error {
	return c.callWith(ctx, 0, life, e, f, then)
}

// callWith is a call that may take extra longer than others, besides its time-out.
func (c *Client) callWith(ctx context.Context, extra time.Duration, life int, e histories.Event, f func(context.Context, *histories.Event) error, then func()) error {
	c.Clock.Now() // stands still while the client is paused, before anything is recorded
	ctx, cancel := context.WithTimeout(ctx, c.Clock.In(c.Timeout))
	defer cancel()
	done, ok := c.invoke(life, e)
	if !ok {
		return errCrashed
	}
	c.calls.Store(true)
	done, err := c.limited(ctx, extra, done, f)
	c.calls.Store(false)
	done.Type = outcome(err)
	if err != nil {
		done.Err = err.Error()
	}
	if e.F == histories.Acquire && done.Type == histories.Fail {
		done.Value = reason(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lives != life {
		return errCrashed
	}
	c.Recorder.Record(done)
	if h, ok := errors.AsType[*HungError](err); ok {
		h.Call = e.F
		c.hung(e, h)
	}
	if done.Type == histories.Info {
		c.retired++
	}
	if err == nil && then != nil {
		then()
	}
	return err
}

// invoke records that e begins, and returns what its completion has in common with it.
func (c *Client) invoke(life int, e histories.Event) (histories.Event, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lives != life || c.crashed {
		return e, false
	}
	e.Process, e.Worker, e.Type = c.number(), c.Worker, histories.Invoke
	c.Recorder.Record(e)
	return e, true
}

// outcome says what is certain after err. What the lock or the guard refused did not
// happen; of any other error nobody knows.
func outcome(err error) histories.Type {
	switch {
	case err == nil:
		return histories.OK
	case resource.Refused(err), locks.Classify(err) == locks.Refused:
		return histories.Fail
	}
	return histories.Info
}
