package contract

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/lockbench/lockbench/locks"
)

func refusal(s *scene) error {
	a, b := s.client("A"), s.client("B")
	held, err := a.acquire(long)
	if err != nil {
		return err
	}
	if err := b.refused(); err != nil {
		return err
	}
	// The refused attempt left nothing behind that stops the holder or the next one.
	if err := s.release(held); err != nil {
		return fmt.Errorf("after a refusal: %w", err)
	}
	_, err = b.acquire(long)
	return err
}

func expiry(s *scene) error {
	a, b := s.client("A"), s.client("B")
	if _, err := a.acquire(s.ttl); err != nil {
		return err
	}
	s.outlive(a)
	if _, err := b.acquire(long); err != nil {
		return fmt.Errorf("after the lease ended: %w", err)
	}
	return nil
}

func foreignRelease(s *scene) error {
	a, b := s.client("A"), s.client("B")
	late, err := a.acquire(s.ttl)
	if err != nil {
		return err
	}
	s.sleepThrough(a)
	held, err := b.acquire(long)
	if err != nil {
		return err
	}
	err = s.unchanged(func() error {
		s.Heal(a.Client)
		return s.notHeld("release of a lease that ended", late.Release)
	})
	if err != nil {
		return err
	}
	if err := s.release(held); err != nil {
		return fmt.Errorf("after a foreign release: %w", err)
	}
	return nil
}

// unchanged checks that a call changes nothing that the masters hold under the key.
func (s *scene) unchanged(call func() error) error {
	before, err := s.contents()
	if err != nil {
		return err
	}
	if err := call(); err != nil {
		return err
	}
	after, err := s.contents()
	if err != nil {
		return err
	}
	for i := range before {
		if !maps.Equal(before[i], after[i]) {
			return fmt.Errorf("node %d changed from %q to %q, and nothing may change there", i+1, before[i], after[i])
		}
	}
	return nil
}

// contents is what every master holds under the key, without the TTLs.
func (s *scene) contents() ([]map[string]string, error) {
	nodes, err := s.Inspect(s.key)
	if err != nil {
		return nil, err
	}
	all := make([]map[string]string, len(nodes))
	for i, node := range nodes {
		all[i] = map[string]string{}
		for name, v := range node {
			all[i][name] = v.Type + " " + v.Text
		}
	}
	return all, nil
}

func secondRelease(s *scene) error {
	held, err := s.client("A").acquire(long)
	if err != nil {
		return err
	}
	if err := s.release(held); err != nil {
		return err
	}
	return s.notHeld("second release", held.Release)
}

// A client that releases what it was refused changes nothing, whatever it is answered.
func refusedRelease(s *scene) error {
	if _, err := s.client("A").acquire(long); err != nil {
		return err
	}
	refused := s.client("B").refusal()
	if refused == nil {
		return errors.New("acquire of a held lock answered no RefusedError, but the lock says that it does")
	}
	err := s.unchanged(func() error {
		_ = s.settle(func() error { return refused.Lease.Release(s.ctx) }) // who was refused does not ask
		return nil
	})
	if err != nil {
		return fmt.Errorf("release by a client that was refused: %w", err)
	}
	return nil
}

func cancelledContext(s *scene) error {
	a, b := s.client("A"), s.client("B")
	cancelled, cancel := context.WithCancel(s.ctx)
	cancel()
	held, err := a.lock.Acquire(cancelled, s.key, s.ttl)
	if err := indefinite("acquire with a cancelled context", held, err); err != nil {
		return err
	}
	s.Sleep(s.ttl + slack)
	if _, err := b.acquire(long); err != nil {
		return fmt.Errorf("one TTL after a cancelled acquire: %w", err)
	}
	return nil
}

// A client whose first reply is lost gives up. One TTL later its attempt must have
// left nothing behind.
func interruptedAcquire(s *scene) error {
	a, b := s.client("A"), s.client("B")
	if err := a.connect(); err != nil {
		return err
	}
	s.LoseReplies(a.Client)
	ctx, cancel := context.WithTimeout(s.ctx, s.ttl/4)
	defer cancel()
	var held locks.Lease
	var err error
	s.bounded(a, func() { held, err = a.lock.Acquire(ctx, s.key, s.ttl) })
	if err := indefinite("acquire whose reply was lost", held, err); err != nil {
		return err
	}
	s.Sleep(s.ttl + slack)
	if _, err := b.acquire(long); err != nil {
		return fmt.Errorf("one TTL after an interrupted acquire: %w", err)
	}
	return nil
}

func indefinite(what string, held locks.Lease, err error) error {
	ok := err != nil && locks.Classify(err) == locks.Indefinite
	return answered(what, held, err, ok, "an indefinite error")
}

func deadline(s *scene) error {
	a := s.client("A")
	before := a.Clock.Now()
	held, err := a.acquire(long)
	if err != nil {
		return err
	}
	return s.honest(a, held, before)
}

// honest checks that the lease's deadline is after since and not after the instant at
// which the servers let the lease expire. A minority of busy servers may have missed the
// call: their answers were not counted either.
func (s *scene) honest(c *client, held locks.Lease, since time.Time) error {
	told := held.Deadline()
	if !told.IsZero() && !told.After(since) {
		return fmt.Errorf("deadline is %v before the call", since.Sub(told))
	}
	nodes, err := s.Inspect(s.key)
	after := c.Clock.Now()
	if err != nil {
		return err
	}
	var wrong []error
	for i, node := range nodes {
		if err := s.keeps(node, told, after); err != nil {
			wrong = append(wrong, fmt.Errorf("node %d: %w", i+1, err))
		}
	}
	if missed := (len(nodes) - 1) / 2; len(wrong) <= missed && !s.Virtual() {
		return nil
	}
	return errors.Join(wrong...)
}

// keeps checks that a node that was looked at before after keeps the lease until told.
func (s *scene) keeps(node map[string]Value, told, after time.Time) error {
	leases := s.leases(node)
	if len(leases) == 0 {
		return errors.New("it holds nothing right after the call")
	}
	for name, v := range leases {
		// The server looked at its clock before after. It counts in milliseconds.
		expires := after.Add(v.TTL + time.Millisecond)
		switch {
		case told.IsZero() && v.TTL >= 0:
			return fmt.Errorf("no deadline was told, and %s expires in %v", name, v.TTL)
		case told.IsZero():
		case v.TTL < 0:
			return fmt.Errorf("a deadline was told, and %s never expires", name)
		case told.After(expires):
			return fmt.Errorf("deadline is %v after %s expires", told.Sub(expires), name)
		}
	}
	return nil
}

// leases are the keys of a node that stand for leases: the lock's own key, and for locks
// that name their keys otherwise all but the fencing counter.
func (s *scene) leases(node map[string]Value) map[string]Value {
	if v, ok := node[s.key]; ok {
		return map[string]Value{s.key: v}
	}
	rest := maps.Clone(node)
	delete(rest, locks.FenceKey(s.key))
	return rest
}

func verify(s *scene) error {
	a, b := s.client("A"), s.client("B")
	held, err := a.acquire(s.ttl)
	if err != nil {
		return err
	}
	lease, err := capable[locks.Verifier](held)
	if err != nil {
		return err
	}
	if err := s.settle(func() error { return lease.Verify(s.ctx) }); err != nil {
		return fmt.Errorf("verify by the holder: %w", err)
	}
	s.outlive(a)
	if err := s.notHeld("verify after the lease ended", lease.Verify); err != nil {
		return err
	}
	if _, err := b.acquire(long); err != nil {
		return err
	}
	return s.notHeld("verify while another holds the lock", lease.Verify)
}

func tokensIncrease(s *scene) error {
	var last int64
	for i, name := range []string{"A", "B", "A", "C", "B"} {
		c, expires := s.client(name), i%2 == 1 // both ways for a lease to end
		ttl := long
		if expires {
			ttl = s.ttl
		}
		held, err := c.acquire(ttl)
		if err != nil {
			return err
		}
		if held.Token() <= last {
			return fmt.Errorf("acquire %d got token %d after %d", i+1, held.Token(), last)
		}
		last = held.Token()
		if err := s.client("another").refused(); err != nil {
			return err
		}
		if expires {
			s.outlive(c)
		} else if err := s.settleRelease(held); err != nil {
			return err
		}
	}
	return nil
}

func noToken(s *scene) error {
	held, err := s.client("A").acquire(long)
	if err != nil {
		return err
	}
	if held.Token() != 0 {
		return fmt.Errorf("token is %d, want 0: the lock says that it issues none", held.Token())
	}
	return nil
}
