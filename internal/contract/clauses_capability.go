package contract

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lockbench/lockbench/locks"
)

// The clauses about optional capabilities.

// capabilities checks both ways: nothing promised is missing, and nothing is kept quiet.
func capabilities(s *scene) error {
	c := s.client("A")
	held, err := c.acquire(long)
	if err != nil {
		return err
	}
	_, extends := held.(locks.Extender)
	_, renews := held.(locks.Watched)
	_, verifies := held.(locks.Verifier)
	_, reenters := c.lock.(locks.Reentrant)
	_, shares := c.lock.(locks.RWLocker)
	_, notifies := c.lock.(locks.Notifier)
	_, waits := c.lock.(locks.Patient)
	_, defaults := c.lock.(locks.Defaulter)
	refused := s.client("B").refusal()
	for _, capability := range []struct {
		name     string
		promised bool
		has      bool
	}{
		{"leases are Extenders", s.spec.Extends, extends},
		{"leases are Watched", s.spec.Renews, renews},
		{"leases are Verifiers", s.spec.HasToken, verifies && s.spec.HasToken}, // others may be, too
		{"it is Reentrant", s.spec.Reenters, reenters},
		{"it is an RWLocker", s.spec.ReadWrite, shares},
		{"it is a Notifier", s.spec.Notifies, notifies},
		{"it is Patient", s.spec.Waits, waits},
		{"it is a Defaulter", s.spec.Promises.WithoutTTL, defaults},
		{"its refusals are RefusedErrors", s.spec.Promises.ReleasesRefused, refused != nil},
	} {
		if capability.promised != capability.has {
			return fmt.Errorf("%s: %v, but its Spec says %v", capability.name, capability.has, capability.promised)
		}
	}
	return nil
}

func reentry(s *scene) error {
	a, b := s.client("A"), s.client("B")
	lock, err := capable[locks.Reentrant](a.lock)
	if err != nil {
		return err
	}
	count := func(want int64) error {
		if n, err := lock.Count(s.ctx, s.key); err != nil || n != want {
			return fmt.Errorf("count is %d, %v; want %d", n, err, want)
		}
		return nil
	}
	outer, err := a.acquire(long)
	if err != nil {
		return err
	}
	inner, err := a.acquire(long)
	if err != nil {
		return fmt.Errorf("the holder's second acquire: %w", err)
	}
	for _, step := range []func() error{
		func() error { return count(2) },
		b.refused,
		func() error { return s.release(inner) },
		func() error { return count(1) },
		b.refused, // the first acquire still holds
		func() error { return s.release(outer) },
		func() error { return count(0) },
		func() error { return s.notHeld("a release more than acquires", outer.Release) },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	_, err = b.acquire(long)
	return err
}

func noReentry(s *scene) error {
	a := s.client("A")
	held, err := a.acquire(long)
	if err != nil {
		return err
	}
	if err := a.refused(); err != nil {
		return fmt.Errorf("the holder itself: %w", err)
	}
	return s.release(held)
}

func extend(s *scene) error {
	a, b := s.client("A"), s.client("B")
	held, err := a.acquire(s.ttl)
	if err != nil {
		return err
	}
	lease, err := capable[locks.Extender](held)
	if err != nil {
		return err
	}
	// A renewal would hide that nothing was extended.
	before, asked := held.Deadline(), a.Clock.Now()
	if err := lease.Extend(s.ctx, long); err != nil {
		return fmt.Errorf("extend by the holder: %w", err)
	}
	if moved := held.Deadline().Sub(before); moved < long/2 {
		return fmt.Errorf("deadline moved by %v when %v was extended to %v", moved, s.ttl, long)
	}
	if err := s.honest(a, held, asked); err != nil {
		return fmt.Errorf("after the extension: %w", err)
	}
	s.outlive(a)
	if err := b.refused(); err != nil {
		return fmt.Errorf("after the lease's first TTL: %w", err)
	}
	return s.settleRelease(held)
}

func extendAfterExpiry(s *scene) error {
	a, b := s.client("A"), s.client("B")
	held, err := a.acquire(s.ttl)
	if err != nil {
		return err
	}
	lease, err := capable[locks.Extender](held)
	if err != nil {
		return err
	}
	s.outlive(a)
	extend := func() error {
		return s.notHeld("extend after the lease ended", func(ctx context.Context) error { return lease.Extend(ctx, long) })
	}
	if err := s.unchanged(extend); err != nil {
		return fmt.Errorf("nobody holds the lock: %w", err)
	}
	if _, err := b.acquire(long); err != nil {
		return fmt.Errorf("after a refused extension: %w", err)
	}
	if err := s.unchanged(extend); err != nil {
		return fmt.Errorf("another holds the lock: %w", err)
	}
	return nil
}

func renewal(s *scene) error {
	a, b := s.client("A"), s.client("B")
	held, lease, err := a.renewed(2*s.ttl + s.ttl/2)
	if err != nil {
		return err
	}
	if err := b.refused(); err != nil {
		return fmt.Errorf("two TTLs later: %w", err)
	}
	if closed(lease.Lost()) {
		return errors.New("the loss of a lease that is held was told")
	}
	if err := s.honest(a, held, a.Clock.Now()); err != nil {
		return fmt.Errorf("two TTLs later: %w", err)
	}
	return s.release(held)
}

func renewalEnds(s *scene) error {
	a := s.client("A")
	held, lease, err := a.renewed(s.ttl + s.ttl/2)
	if err != nil {
		return err
	}
	if err := s.release(held); err != nil {
		return err
	}
	b, err := s.client("B").acquire(long)
	if err != nil {
		return fmt.Errorf("after the release: %w", err)
	}
	if err := s.unchanged(func() error { s.Sleep(s.ttl); return nil }); err != nil {
		return fmt.Errorf("a renewal after the release: %w", err)
	}
	if err := s.release(b); err != nil {
		return err
	}
	if err := s.unchanged(func() error { s.Sleep(s.ttl); return nil }); err != nil {
		return fmt.Errorf("a renewal after the release: %w", err)
	}
	if closed(lease.Lost()) {
		return errors.New("the loss of a lease that was released was told")
	}
	return nil
}

// renewed gets the free lock and lets d pass. A busy machine may miss every renewal of a lease:
// on real servers one that has ended meanwhile is no answer, and another is tried.
func (c *client) renewed(d time.Duration) (locks.Lease, locks.Watched, error) {
	s := c.scene
	for try := 1; ; try++ {
		held, err := c.acquire(s.ttl)
		if err != nil {
			return nil, nil, err
		}
		lease, err := capable[locks.Watched](held)
		if err != nil {
			return nil, nil, err
		}
		s.Sleep(d)
		ended := closed(lease.Lost())
		if !ended {
			kept, err := s.contents()
			if err != nil {
				return nil, nil, err
			}
			ended = len(kept[0]) == 0 // they have one master
		}
		if !ended || s.Virtual() || try == 3 {
			return held, lease, nil
		}
		_ = held.Release(s.ctx) // it has ended
		s.Sleep(s.ttl + slack)
	}
}

func lossIsTold(s *scene) error {
	a := s.client("A")
	held, err := a.acquire(s.ttl)
	if err != nil {
		return err
	}
	lease, err := capable[locks.Watched](held)
	if err != nil {
		return err
	}
	s.Cut(a.Client)
	defer s.Heal(a.Client)
	const step = time.Millisecond
	for range int((s.ttl + slack) / step) {
		if closed(lease.Lost()) {
			break
		}
		s.Sleep(step)
	}
	now := a.Clock.Now()
	if !closed(lease.Lost()) {
		return fmt.Errorf("the loss was not told for %v after the client was cut off", s.ttl)
	}
	// On a busy machine the holder may be told late.
	if late := now.Sub(held.Deadline()); late > step && s.Virtual() {
		return fmt.Errorf("the loss was told %v after the deadline", late)
	}
	return nil
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
