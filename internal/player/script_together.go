package player

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/schedule"
	"github.com/lockbench/lockbench/locks"
)

// Steps in which several clients act together, which no sequence of simpler steps says: how often they do
// it depends on what they meet.

// coincidences is how often two clients try to meet in one millisecond.
const coincidences = 1000

// meet lets two clients try at one moment to get a reader's lease, and again until both were let in in
// the same millisecond, as each saw it on its own clock. Where time is real that is left to chance, and
// does not take long.
func (s *Stage) meet(ctx context.Context, names []string) error {
	both, err := s.clients(names...)
	if err != nil {
		return err
	}
	for _, c := range both {
		if _, ok := c.Lock.(locks.RWLocker); !ok {
			return &UnplayableError{Why: "this step needs a lock that has readers and writers (lockbench list locks)"}
		}
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
			if err := errors.Join(s.begin(ctx, c, c.Release), s.finish(ctx, c)); err != nil {
				return err
			}
		}
		if err := s.Clock.Sleep(ctx, beat); err != nil {
			return err
		}
	}
	return fmt.Errorf("%d times, and never in the same millisecond", coincidences)
}

// crowd lets threads of one process wait for the lock, one after the other, each on a connection of its
// own. Somebody has it, else that is a *MissedError. Waiters that rest between two tries may never need as many at once: the script goes on after a
// quarter of a TTL. That one waits no more by then, or never had to, is a *MissedError.
func (s *Stage) crowd(ctx context.Context, names []string) error {
	threads, err := s.clients(names...)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(s.Clients, (*Client).Holds) {
		return &MissedError{Why: "nobody holds the lock that " + strings.Join(names, " and ") + " should wait for"}
	}
	link := s.Cluster.Link(s.Process(threads[0]), s.Cluster.Primary(0))
	before := link.CommandsByConn()
	used := func() (n int) {
		for conn, commands := range link.CommandsByConn() {
			if commands > before[conn] {
				n++
			}
		}
		return n
	}
	for _, c := range threads {
		if err := s.begin(ctx, c, func(ctx context.Context) error { return c.turn(ctx, s) }); err != nil {
			return err
		}
		if err := s.isSent(ctx, c); err != nil {
			return err
		}
	}
	end := s.Clock.Now().Add(s.TTL / 4)
	for used() < len(threads) && s.Clock.Now().Before(end) {
		if err := s.Clock.Sleep(ctx, beat); err != nil {
			return err
		}
	}
	for _, c := range threads {
		if s.pending[c].over() {
			return &MissedError{Why: c.Name + " does not wait for the lock: its call is over"}
		}
	}
	return nil
}

// outliveAll lets a client acquire the locks on all keys and outlive their leases. Then, key by key, the
// next acquires, the first one releases too late, the third tries to acquire, and the next releases. It
// ends as soon as the third has been granted a lock within the lease of the next; who holds none by then
// has walked away.
func (s *Stage) outliveAll(ctx context.Context, names []string) error {
	all, err := s.clients(names...)
	if err != nil {
		return err
	}
	late := all[0]
	for n := range s.Keys {
		if err := errors.Join(s.acquireKey(ctx, late, n+1), s.Stopped(ctx)); err != nil {
			return err
		}
	}
	defer late.Abandon("")
	s.sight()
	if err := s.allEnd(ctx); err != nil {
		return err
	}
	for n := len(s.Keys); n > 0; n-- { // what was acquired last is released first
		stolen, err := s.outlive(ctx, late, all[1], all[2], n)
		if err != nil || stolen {
			return err
		}
	}
	return nil
}

func (s *Stage) acquireKey(ctx context.Context, c *Client, n int) error {
	return s.operate(ctx, schedule.Step{Verb: schedule.Acquire, Who: []string{c.Name}, Key: n})
}

func (s *Stage) release(ctx context.Context, c *Client) error {
	return s.operate(ctx, schedule.Step{Verb: schedule.Release, Who: []string{c.Name}})
}

// allEnd waits until no server has any key any more.
func (s *Stage) allEnd(ctx context.Context) error {
	lock, err := s.kept()
	if err != nil {
		return err
	}
	for range 10 {
		if err := errors.Join(s.Clock.Sleep(ctx, s.TTL/5), s.Stopped(ctx)); err != nil {
			return err
		}
		if n, _, err := s.held(ctx, lock); err != nil || n == 0 {
			return errors.Join(err, s.unsighted(s.Keys...))
		}
	}
	return &UnplayableError{Why: fmt.Sprintf("a lock's key is still there after twice its TTL of %v", s.TTL)}
}

// outlive plays one round of outliveAll, and says whether the intruder was granted the lock that the owner had.
func (s *Stage) outlive(ctx context.Context, late, owner, intruder *Client, key int) (bool, error) {
	if held := late.section(); held == nil || held.key != s.Keys[key-1].Name {
		return false, nil // it was not granted this one
	}
	end := s.Clock.Now().Add(s.TTL / 2)
	for _, step := range []func() error{
		func() error { return s.acquireKey(ctx, owner, key) },
		func() error { return s.release(ctx, late) },
		func() error { return s.acquireKey(ctx, intruder, key) },
	} {
		if err := errors.Join(step(), s.Clock.Sleep(ctx, beat), s.Stopped(ctx)); err != nil {
			return false, err
		}
	}
	if owner.Holds() && intruder.Holds() && s.Clock.Now().Before(end) {
		return true, nil
	}
	return false, errors.Join(s.release(ctx, owner), s.release(ctx, intruder))
}
