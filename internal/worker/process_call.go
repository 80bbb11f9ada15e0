package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/lockbench/lockbench/internal/osproc"
)

// waiter is a call that has no answer yet.
type waiter struct {
	answer chan Answer   // holds one; closed without one when the process is of no use any more
	gone   chan struct{} // of an acquire: closed when its lease is lost, which may be told before its answer
}

// call makes a request and returns its answer. The deadline of ctx is the worker's to
// keep: that it passes does not end the call. Cancelling ctx does, or the end of the run.
func (p *process) call(ctx context.Context, r Request) (Answer, error) {
	turn := p.turn(r.Thread)
	turn.Lock()
	defer turn.Unlock()
	limit := p.grace
	if end, ok := ctx.Deadline(); ok {
		patience := time.Until(end)
		if patience <= 0 {
			return Answer{}, context.DeadlineExceeded
		}
		r.Timeout = milliseconds(patience)
		limit += patience
	}
	began := time.Now()
	answer, err := p.issue(&r)
	if err != nil {
		return Answer{}, err
	}
	cancelled := make(chan struct{})
	defer context.AfterFunc(ctx, func() {
		if errors.Is(ctx.Err(), context.Canceled) {
			close(cancelled)
		}
	})()
	for {
		timer := time.NewTimer(max(time.Until(p.busySince(began).Add(limit)), time.Millisecond))
		select {
		case a, ok := <-answer:
			timer.Stop()
			if !ok {
				return Answer{}, p.useless()
			}
			return a, p.understood(r, a)
		case <-cancelled:
			timer.Stop()
			return Answer{}, ctx.Err()
		case <-p.run.Done(): // a deadline of ctx that has passed hides it
			timer.Stop()
			return Answer{}, p.run.Err()
		case <-timer.C:
			if time.Since(p.busySince(began)) >= limit {
				p.fail(&SilentError{Client: p.client, PID: p.cmd.Process.Pid, For: limit.Round(time.Millisecond), Said: fmt.Sprint(p.said)})
				return Answer{}, errors.Join(p.useless(), osproc.KillGroup(p.cmd.Process.Pid))
			}
		}
	}
}

// turn is held during a call of a thread.
func (p *process) turn(thread int64) *sync.Mutex {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.calling[thread] == nil {
		p.calling[thread] = new(sync.Mutex)
	}
	return p.calling[thread]
}

// busySince is when the process began with a call, or went on with it after a pause.
func (p *process) busySince(began time.Time) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.stopped:
		return time.Now()
	case p.resumed.After(began):
		return p.resumed
	}
	return began
}

// issue numbers r and writes it.
func (p *process) issue(r *Request) (<-chan Answer, error) {
	p.mu.Lock()
	if p.why != nil {
		defer p.mu.Unlock()
		return nil, p.why
	}
	p.issued++
	r.ID = p.issued
	w := &waiter{answer: make(chan Answer, 1)}
	if r.Op == Acquire {
		w.gone = make(chan struct{})
		p.lost[r.ID] = w.gone
	}
	p.waiting[r.ID] = w
	p.mu.Unlock()
	line, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("worker %s: %w", p.client, err)
	}
	// A process that has ended is found out by wait, with the reason.
	_, _ = p.in.Write(append(line, '\n'))
	return w.answer, nil
}

func (p *process) useless() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.why
}

// understood ends a process that says that it cannot do what was asked.
func (p *process) understood(r Request, a Answer) error {
	if a.Type != Error {
		return nil
	}
	p.fail(fmt.Errorf("cannot do what %s asks for: %s", r.Op, a.Error))
	return p.useless()
}
