package worker

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lockbench/lockbench/internal/resource"
	"github.com/lockbench/lockbench/locks"
)

// held is a lease, and the section under it.
type held struct {
	locks.Lease
	*resource.Section
	over chan struct{} // closed when the lease is given back
}

// lease is what a request is about, or nil. Of a lease that is released no more can be asked than
// to release it once more, if its thread has released none since.
func (s *server) lease(r Request) *held {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.Op != Release && s.released[r.Thread] == r.Lease {
		return nil
	}
	return s.leases[r.Lease]
}

// refusedLease is what an acquire was refused, by the id of the acquire.
type refusedLease struct {
	id int64
	locks.Lease
}

// refuse notes what a thread's latest acquire leaves to release if it was refused.
func (s *server) refuse(r Request, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.refused, r.Thread)
	if refused, ok := errors.AsType[*locks.RefusedError](err); ok {
		s.refused[r.Thread] = refusedLease{r.ID, refused.Lease}
	}
}

// refusal is what the latest acquire of a thread was refused, if it is asked to release or to extend that, or nil.
func (s *server) refusal(r Request) locks.Lease {
	s.mu.Lock()
	defer s.mu.Unlock()
	if of, ok := s.refused[r.Thread]; ok && (r.Op == Release || r.Op == Extend) && of.id == r.Lease {
		return of.Lease
	}
	return nil
}

// useRefused does with a lease that was refused what a caller does who takes it for its own.
func useRefused(ctx context.Context, lease locks.Lease, r Request) Answer {
	err := error(nil)
	if r.Op == Release {
		err = lease.Release(ctx)
	} else if extender, ok := lease.(locks.Extender); ok {
		err = extender.Extend(ctx, duration(r.TTL))
	} else {
		return Answer{Type: Error, Error: "leases of this lock cannot be extended"}
	}
	if err != nil {
		return refusal(err)
	}
	return Answer{Type: OK}
}

// giveBack makes a lease the one that its thread has released last.
func (s *server) giveBack(r Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := s.released[r.Thread]
	if last == r.Lease {
		return
	}
	delete(s.leases, last)
	s.released[r.Thread] = r.Lease
	close(s.leases[r.Lease].over)
}

// acquirer is the method of the lock that a request asks for.
func (s *server) acquirer(r Request) (func(context.Context, string, time.Duration) (locks.Lease, error), error) {
	lock := s.lock(r.Thread)
	switch r.Mode {
	case Exclusive:
	case Shared:
		rw, ok := lock.(locks.RWLocker)
		switch {
		case !ok:
			return nil, errors.New("this lock has no leases for readers")
		case r.Wait > 0:
			return nil, errors.New("this lock's readers do not wait")
		}
		return rw.AcquireRead, nil
	default:
		return nil, fmt.Errorf("no mode %q, want %q or none", r.Mode, Shared)
	}
	if r.TTL == 0 {
		return withoutTTL(lock, r)
	}
	if r.Wait == 0 {
		return lock.Acquire, nil
	}
	patient, ok := lock.(locks.Patient)
	if !ok {
		return nil, errors.New("this lock does not wait")
	}
	return func(ctx context.Context, key string, ttl time.Duration) (locks.Lease, error) {
		ctx, cancel := context.WithTimeout(ctx, duration(r.Wait))
		defer cancel()
		return patient.Await(ctx, key, ttl)
	}, nil
}

// withoutTTL is the method of a lock that is not told for how long.
func withoutTTL(lock locks.Locker, r Request) (func(context.Context, string, time.Duration) (locks.Lease, error), error) {
	defaulter, ok := lock.(locks.Defaulter)
	if !ok || r.Wait > 0 {
		return nil, errors.New("this lock has to be told for how long: want a ttl")
	}
	return func(ctx context.Context, key string, _ time.Duration) (locks.Lease, error) {
		return defaulter.AcquireDefault(ctx, key)
	}, nil
}

func (s *server) acquire(ctx context.Context, r Request, began time.Time) Answer {
	acquire, err := s.acquirer(r)
	if err != nil {
		return Answer{Type: Error, Error: err.Error()}
	}
	key := s.opt.rename(r.Key)
	s.opt.precede(ctx, s.masters, s.keys(key))
	lease, err := acquire(ctx, key, duration(r.TTL))
	s.refuse(r, err)
	if err != nil {
		return refusal(err)
	}
	l := &held{
		Lease:   lease,
		Section: s.guard.Enter(resource.NewRegister(s.register, r.Key), lease, Clock{}),
		over:    make(chan struct{}),
	}
	s.mu.Lock()
	s.leases[r.ID] = l
	s.mu.Unlock()
	if w, ok := lease.(locks.Watched); ok {
		go s.watch(r.ID, l, w)
	}
	return Answer{Type: OK, Token: lease.Token(), Remaining: remaining(lease, began)}
}

func (s *server) count(ctx context.Context, r Request) Answer {
	lock, ok := s.lock(r.Thread).(locks.Reentrant)
	if !ok {
		return Answer{Type: Error, Error: "this lock does not count"}
	}
	n, err := lock.Count(ctx, s.opt.rename(r.Key))
	if err != nil {
		return refusal(err)
	}
	return Answer{Type: OK, Count: n}
}

// use does what a holder does.
func (s *server) use(ctx context.Context, l *held, r Request, began time.Time) Answer {
	a := Answer{Type: OK}
	var err error
	switch r.Op {
	case Read:
		var seen resource.State
		seen, err = l.Read(ctx)
		a.Value, a.Version, a.Token = seen.Value, seen.Version, l.Section.Token()
	case Write:
		var seen resource.State
		seen, err = l.Write(ctx, r.Value)
		a.Version, a.Token = seen.Version, l.Section.Token()
	case Extend:
		extender, ok := l.Lease.(locks.Extender)
		if !ok {
			return Answer{Type: Error, Error: "leases of this lock cannot be extended"}
		}
		err = extender.Extend(ctx, duration(r.TTL))
		a.Token, a.Remaining = l.Lease.Token(), remaining(l.Lease, began)
	case Verify:
		verifier, ok := l.Lease.(locks.Verifier)
		if !ok {
			return Answer{Type: Error, Error: "leases of this lock cannot be asked whether they are held"}
		}
		err = verifier.Verify(ctx)
	default:
		s.giveBack(r)
		err = l.Release(ctx)
	}
	if err != nil {
		return refusal(err)
	}
	return a
}

// watch tells of the loss of a lease.
func (s *server) watch(id int64, l *held, w locks.Watched) {
	select {
	case <-w.Lost():
		_ = s.send(Answer{Event: Lost, Lease: id, Token: l.Lease.Token(), Remaining: remaining(l.Lease, time.Now())}) // a closed output ends the server
	case <-l.over:
	}
}

// remaining is when a lease ends, counted from an instant.
func remaining(l locks.Lease, from time.Time) *float64 {
	end := l.Deadline()
	if end.IsZero() {
		return nil
	}
	ms := milliseconds(end.Sub(from))
	return &ms
}
