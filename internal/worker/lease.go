package worker

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"github.com/lockbench/lockbench/internal/resource"
	"github.com/lockbench/lockbench/locks"
)

// deadline is the earliest instant at which the lease may end for its holder: the worker
// counts from when it read the request, which the harness had sent by then. A holder must
// not be said to believe longer than it does.
func deadline(began time.Time, a Answer) time.Time {
	if a.Remaining == nil {
		return time.Time{}
	}
	return began.Add(duration(*a.Remaining))
}

// Lease is what a worker holds, and the section under it. It is not safe for concurrent use,
// except Token and Lost.
type Lease struct {
	process  *process
	thread   int64
	id       int64
	released bool
	token    int64        // of the lock
	section  atomic.Int64 // the token of the section's last access
	deadline time.Time
	lost     <-chan struct{}
}

var (
	_ locks.Lease    = (*Lease)(nil)
	_ locks.Extender = (*Lease)(nil)
	_ locks.Watched  = (*Lease)(nil)
	_ locks.Verifier = (*Lease)(nil)
)

// Release gives the lease back. A worker that has not said that it takes a second release is an
// error of the run then.
func (l *Lease) Release(ctx context.Context) error {
	if l.released {
		if err := l.process.able(CanReleaseTwice, Release); err != nil {
			return err
		}
	}
	l.released = true
	_, err := l.call(ctx, Request{Op: Release})
	return err
}

// Extend makes the lease last for ttl from now. A worker that cannot is an error of the run.
func (l *Lease) Extend(ctx context.Context, ttl time.Duration) error {
	began := time.Now()
	a, err := l.call(ctx, Request{Op: Extend, TTL: milliseconds(ttl)})
	if err != nil {
		return err
	}
	l.deadline = deadline(began, a)
	return nil
}

// Verify asks the worker whether the lease is still the caller's. A worker that cannot be asked is
// an error of the run.
func (l *Lease) Verify(ctx context.Context) error {
	if err := l.process.able(CanVerify, Verify); err != nil {
		return err
	}
	_, err := l.call(ctx, Request{Op: Verify})
	return err
}

// Deadline is when the lease ends, as the lock told its holder.
func (l *Lease) Deadline() time.Time { return l.deadline }

// Lost is closed once the worker has said that the lease is gone.
func (l *Lease) Lost() <-chan struct{} { return l.lost }

// Tells reports whether the worker has said that it tells of losses, so that waiting for it is worth it.
func (l *Lease) Tells() bool { return slices.Contains(l.process.can, CanLost) }

// Token is the fencing token, of the section if that has one of its own.
func (l *Lease) Token() int64 { return max(l.token, l.section.Load()) }

// Read reads the register, in the worker.
func (l *Lease) Read(ctx context.Context) (resource.State, error) {
	a, err := l.call(ctx, Request{Op: Read})
	if err != nil {
		return resource.State{}, err
	}
	l.section.Store(a.Token)
	return resource.State{Value: a.Value, Version: a.Version}, nil
}

// Write writes the register, in the worker, and returns the version that it replaced.
func (l *Lease) Write(ctx context.Context, value int64) (resource.State, error) {
	a, err := l.call(ctx, Request{Op: Write, Value: value})
	if err != nil {
		return resource.State{}, err
	}
	l.section.Store(a.Token)
	return resource.State{Value: value, Version: a.Version}, nil
}

func (l *Lease) call(ctx context.Context, r Request) (Answer, error) {
	r.Lease, r.Thread = l.id, l.thread
	a, err := l.process.call(ctx, r)
	if err == nil {
		err = refused(a, locks.ErrNotHeld)
	}
	return a, err
}

// refusedError is a worker's definite refusal: in its words, and with our meaning.
type refusedError struct {
	text  string
	means error
}

func (e *refusedError) Error() string { return e.text }
func (e *refusedError) Unwrap() error { return e.means }

// refused is the error that an answer stands for. A fail without a reason means usual.
func refused(a Answer, usual error) error {
	text := a.Error
	if text == "" {
		text = "the worker gives no reason"
	}
	switch {
	case a.Type == OK:
		return nil
	case a.Type == Unknown:
		return errors.New(text)
	case a.Reason == Taken:
		usual = locks.ErrTaken
	case a.Reason == NotHeld:
		usual = locks.ErrNotHeld
	case a.Reason == Stale:
		usual = resource.ErrStale
	case a.Reason == Elapsed:
		usual = resource.ErrElapsed
	case a.Reason == Invalid:
		usual = &locks.InputError{Field: "arguments", Value: "of no use to the worker", Want: "others"}
	case a.Reason == Rejected:
		usual = locks.ErrRejected
	case a.Reason == Done:
		usual = resource.ErrDone
	}
	return &refusedError{text: text, means: usual}
}
