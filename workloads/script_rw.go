package workloads

import (
	"context"
	"fmt"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/locks"
)

// AcquireRead lets a client try once to get a reader's lease.
func AcquireRead(name string) Step {
	return acquiring(name+" tries to acquire the lock as a reader", name, 1, func(ctx context.Context, s *Stage, c *Client) error {
		return c.AcquireAs(ctx, histories.Shared, s.name(), s.TTL)
	}).ofReaders()
}

// AcquireReadFor lets a client try once to get a reader's lease of a number of TTLs.
func AcquireReadFor(name string, ttls float64) Step {
	return acquiring(fmt.Sprintf("%s tries to acquire the lock as a reader, for %v TTLs", name, ttls), name, 1, func(ctx context.Context, s *Stage, c *Client) error {
		return c.AcquireAs(ctx, histories.Shared, s.name(), s.ttls(ttls))
	}).ofReaders()
}

// AcquireFor lets a client try once to get a lease of a number of TTLs.
func AcquireFor(name string, ttls float64) Step {
	return acquiring(fmt.Sprintf("%s tries to acquire the lock for %v TTLs", name, ttls), name, 1, func(ctx context.Context, s *Stage, c *Client) error {
		return c.Acquire(ctx, s.name(), s.ttls(ttls))
	})
}

// coincidences is how often two clients try to meet in one millisecond.
const coincidences = 1000

// AcquireReadTogether lets two clients try at one moment to get a reader's lease, and again
// until both were let in in the same millisecond, as each saw it on its own clock. Where
// time is real that is left to chance, and does not take long.
func AcquireReadTogether(first, second string) Step {
	return Step{fmt.Sprintf("%s and %s acquire the lock as readers, in the same millisecond", first, second), func(ctx context.Context, s *Stage) error {
		both, err := s.clients(first, second)
		if err != nil {
			return err
		}
		for range coincidences {
			for _, c := range both {
				if err := s.begin(ctx, c, func(ctx context.Context) error { return c.AcquireAs(ctx, histories.Shared, s.name(), s.TTL) }); err != nil {
					return err
				}
				if err := s.Clock.Sleep(ctx, 1); err != nil { // apart, for replays
					return err
				}
			}
			if err := s.finishAll(ctx, both); err != nil {
				return err
			}
			a, b := both[0].section(), both[1].section()
			if a == nil || b == nil {
				return fmt.Errorf("a reader was refused, and nobody holds the lock but readers")
			}
			if a.lease.Deadline().UnixMilli() == b.lease.Deadline().UnixMilli() {
				return nil
			}
			for _, c := range both {
				if err := s.begin(ctx, c, c.Release); err != nil {
					return err
				}
				if err := s.finish(ctx, c); err != nil {
					return err
				}
			}
			if err := s.Clock.Sleep(ctx, beat); err != nil {
				return err
			}
		}
		return fmt.Errorf("%d times, and never in the same millisecond", coincidences)
	}}.ofReaders()
}

// ofReaders is a step that asks for readers' leases, and says so of a lock that has none.
func (p Step) ofReaders() Step {
	return Step{p.Text, func(ctx context.Context, s *Stage) error {
		for _, c := range s.Clients {
			if _, ok := c.Lock.(locks.RWLocker); !ok {
				return &UnplayableError{Why: "this step needs a lock that has readers and writers (lockbench list locks)"}
			}
		}
		return p.Do(ctx, s)
	}}
}

// LeaseAges waits until a part of the lease that a client holds is over. That it holds none is a
// *MissedError.
func LeaseAges(name string, part float64) Step {
	return Step{fmt.Sprintf("%v of %s's lease pass", part, name), func(ctx context.Context, s *Stage) error {
		c, err := s.client(name)
		if err != nil {
			return err
		}
		left, _, err := s.left(c)
		if err != nil {
			return err
		}
		return s.Clock.Sleep(ctx, left-s.ttls(1-part))
	}}
}

// mostTTLs is how many TTLs a lease may last for a script to wait for its end.
const mostTTLs = 20

// left is how long the lease of a client still lasts, and when it ends, as the lock told it.
func (s *Stage) left(c *Client) (time.Duration, time.Time, error) {
	held := c.section()
	if held == nil {
		return 0, time.Time{}, &MissedError{Why: c.Name + " holds no lease that could end"}
	}
	end := held.lease.Deadline()
	left := end.Sub(s.Clock.Now())
	switch {
	case end.IsZero():
		return 0, end, &UnplayableError{Why: "the lock does not say when its lease ends"}
	case left > mostTTLs*s.TTL:
		return 0, end, &UnplayableError{Why: fmt.Sprintf("the lock says that its lease lasts for another %v, and %v was asked for", left.Round(time.Millisecond), s.TTL)}
	}
	return left, end, nil
}

// OwnLeaseEnds waits until the lease of one client is over, and until the lock's servers
// have let go what they let go with it: all keys at best, else what is left after the slack.
// That the client holds no lease is a *MissedError.
func OwnLeaseEnds(name string) Step {
	return Step{"the lease of " + name + " ends", func(ctx context.Context, s *Stage) error {
		c, err := s.client(name)
		if err != nil {
			return err
		}
		lock, err := s.kept()
		if err != nil {
			return err
		}
		left, end, err := s.left(c)
		if err != nil {
			return err
		}
		if err := s.Clock.Sleep(ctx, left); err != nil {
			return err
		}
		for {
			n, err := s.held(ctx, lock)
			if err != nil || n == 0 || s.Clock.Now().After(end.Add(s.Slack)) {
				return err
			}
			if err := s.Clock.Sleep(ctx, max(s.TTL/200, time.Millisecond)); err != nil {
				return err
			}
		}
	}}
}

// clients finds clients by name.
func (s *Stage) clients(names ...string) ([]*Client, error) {
	all := make([]*Client, len(names))
	for i, name := range names {
		c, err := s.client(name)
		if err != nil {
			return nil, err
		}
		all[i] = c
	}
	return all, nil
}

// finishAll waits for the calls that clients are in.
func (s *Stage) finishAll(ctx context.Context, clients []*Client) error {
	for _, c := range clients {
		if err := s.finish(ctx, c); err != nil {
			return err
		}
	}
	return nil
}
