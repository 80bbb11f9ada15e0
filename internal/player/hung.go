package player

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/sim/stacks"
	"github.com/lockbench/lockbench/nemesis"
)

const (
	// hangs is how long after the end of its context a call of a lock may still take: long
	// enough for a library that does not look at contexts and has time-outs of its own.
	hangs = 10 * time.Second
	// processHangs is that of a client with a process of its own: what speaks for the process
	// tells by then that it does not answer, and knows more.
	processHangs = time.Minute
	// parts is in how many parts that time is waited for: one in which the client was paused
	// does not count.
	parts = 10
	// partings is how long a call may take once the run has been cancelled.
	partings = 500 * time.Millisecond
)

// Hangs are the calls of locks that did not return within their limit, or panicked. They end
// the run. The zero value is ready, and its methods are safe for concurrent use.
type Hangs struct {
	mu sync.Mutex
	n  int
}

// Any reports whether there was one.
func (h *Hangs) Any() bool {
	if h == nil {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.n > 0
}

func (h *Hangs) add() {
	if h != nil {
		h.mu.Lock()
		h.n++
		h.mu.Unlock()
	}
}

// HungError is a call that did not return within its limit, or that panicked. What became of
// what it asked for nobody knows.
type HungError struct {
	Call  histories.F
	How   string // such as: did not return within 27s
	Stack string // where it stands; see stacks.Of. Empty: that is not known
}

func (e *HungError) Error() string { return fmt.Sprintf("%s %s", e.Call, e.How) }

// evidence is the error of the event: what happened, and from the next line on where.
func (e *HungError) evidence() string {
	if e.Stack == "" {
		return e.How
	}
	return e.How + "\n" + e.Stack
}

// silent is an error of a call whose process did not answer within its limit.
type silent interface {
	error
	Silent() string // for how long, and what it said last
}

// answered is what became of a call.
type answered struct {
	done histories.Event
	err  error
}

// limited makes a call that ends whatever the lock does: it is not waited for longer than
// extra after the end of its context, and then some. Its error is then a *HungError.
func (c *Client) limited(ctx context.Context, extra time.Duration, done histories.Event, f func(context.Context, *histories.Event) error) (histories.Event, error) {
	ended, who := make(chan answered, 1), make(chan string, 1)
	began, own := c.Now(), done // the call may write to its own whenever it likes
	go func() {
		var err error
		defer func() {
			if r := recover(); r != nil {
				err = &HungError{Call: done.F, How: fmt.Sprintf("panicked: %v", r), Stack: stacks.Frames(string(debug.Stack()))}
			}
			ended <- answered{own, err}
		}()
		who <- stacks.Goroutine()
		err = f(ctx, &own)
	}()
	select {
	case a := <-ended:
		return a.done, c.judged(a.err)
	case <-ctx.Done():
	}
	if a, ok := c.lastly(ctx, extra, ended); ok {
		return a.done, c.judged(a.err)
	}
	if errors.Is(context.Cause(ctx), context.Canceled) { // the run is over, and nothing is said of the lock
		return done, ctx.Err()
	}
	return done, &HungError{Call: done.F, How: fmt.Sprintf("did not return within %v", (c.Now() - began).Round(time.Millisecond)), Stack: stacks.Of(<-who)}
}

// Within calls f and returns what it returns, or a *HungError if it does not return within
// limit, by after, or panics.
func Within(call histories.F, limit time.Duration, after func(time.Duration) <-chan time.Time, f func() error) error {
	ended, who := make(chan error, 1), make(chan string, 1)
	go func() {
		var err error
		defer func() {
			if r := recover(); r != nil {
				err = &HungError{Call: call, How: fmt.Sprintf("panicked: %v", r), Stack: stacks.Frames(string(debug.Stack()))}
			}
			ended <- err
		}()
		who <- stacks.Goroutine()
		err = f()
	}()
	select {
	case err := <-ended:
		return err
	case <-after(limit):
		return &HungError{Call: call, How: fmt.Sprintf("did not return within %v", limit), Stack: stacks.Of(<-who)}
	}
}

// judged is err, or the *HungError that it means.
func (c *Client) judged(err error) error {
	if s, ok := errors.AsType[silent](err); ok {
		return &HungError{How: s.Silent()}
	}
	return err
}

// lastly waits for a call whose context is over, as long as it may take then.
func (c *Client) lastly(ctx context.Context, extra time.Duration, ended <-chan answered) (answered, bool) {
	limit := extra
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		limit = partings
	case c.Grace > 0:
		limit += c.Grace
	case c.Process != nil:
		limit += processHangs
	default:
		limit += hangs
	}
	for waited := 0; waited < parts; {
		paused := c.paused()
		select {
		case a := <-ended:
			return a, true
		case <-c.waits(limit / parts):
		}
		if !paused && !c.paused() || limit == partings {
			waited++
		}
	}
	return answered{}, false
}

// waits is over after d, whatever the client's clock shows, and whether it is paused or not.
func (c *Client) waits(d time.Duration) <-chan time.Time {
	if c.Patience == nil {
		return c.Clock.After(d)
	}
	return c.Patience(d)
}

func (c *Client) paused() bool {
	for _, gate := range []*nemesis.Gate{c.Gate, c.Thread} {
		if gate == nil {
			continue
		}
		if closed, _ := gate.Closed(); closed {
			return true
		}
	}
	return false
}

// Hung records a call that did not return, and ends the run by it.
func (c *Client) Hung(e *HungError) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hung(histories.Event{}, e)
}

// hung does so of a call of an attempt. It is called with mu.
func (c *Client) hung(call histories.Event, e *HungError) {
	c.Recorder.Record(histories.Event{
		Process: c.number(), Worker: c.Worker, Type: histories.Info, F: histories.Hung,
		Key: call.Key, Attempt: call.Attempt, Value: string(e.Call), Err: e.evidence(),
	})
	c.Hangs.add()
}
