package workloads

import (
	"context"
	"fmt"
	"time"

	"github.com/lockbench/lockbench/cluster"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/nemesis"
	"github.com/lockbench/lockbench/wire"
)

// wayToServers is how long a message takes on a network that is not a machine's own. It is
// less than the least lease by far.
const wayToServers = 5 * time.Millisecond

// FarFromServers makes every message between a client and the lock's servers take its time,
// as networks do: on one machine a renewal that is due when its lease ends may come in time.
func FarFromServers(name string) Step {
	return Step{fmt.Sprintf("%s is %v away from the lock's servers", name, wayToServers), func(ctx context.Context, s *Stage) error {
		return s.Nemesis.Start(ctx, nemesis.Latency(name, s.lockLinks(name), wire.Latency{Base: wayToServers}))
	}}
}

// AcquireKey lets a client try once to get the lock on the n-th key, from 1 on.
func AcquireKey(name string, n int) Step {
	return acquiring(fmt.Sprintf("%s tries to acquire the lock on key %d", name, n), name, n, func(ctx context.Context, s *Stage, c *Client) error {
		key, err := s.key(n)
		if err != nil {
			return err
		}
		return c.Acquire(ctx, key.Name, s.TTL)
	})
}

// SectionLasts lets a number of TTLs pass in a holder's section, or the time until no server
// has the n-th key any more, if that is less.
func SectionLasts(name string, n int, ttls float64) Step {
	return Step{fmt.Sprintf("%s works under key %d for up to %v TTLs", name, n, ttls), func(ctx context.Context, s *Stage) error {
		key, err := s.key(n)
		if err != nil {
			return err
		}
		lock, err := s.kept(key)
		if err != nil {
			return err
		}
		for end := s.Clock.Now().Add(s.ttls(ttls)); s.Clock.Now().Before(end); {
			shards, err := s.held(ctx, lock)
			if err != nil {
				return err
			}
			if shards == 0 {
				return s.unsighted(key)
			}
			s.sight()
			if err := s.stop(ctx); err != nil {
				return err
			}
			if err := s.Clock.Sleep(ctx, max(s.TTL/200, time.Millisecond)); err != nil {
				return err
			}
		}
		return nil
	}}
}

// BeganTogether proves that a client's leases on the keys from the first to the n-th began within a
// quarter of a TTL, if a server still has the n-th: else what renews the first may have been free
// again in time for the last.
func BeganTogether(name string, n int) Step {
	return Step{fmt.Sprintf("%s's leases on keys 1 to %d began together", name, n), func(ctx context.Context, s *Stage) error {
		c, err := s.client(name)
		if err != nil {
			return err
		}
		last, err := s.key(n)
		if err != nil {
			return err
		}
		lock, err := s.kept(last)
		if err != nil {
			return err
		}
		if there, err := s.held(ctx, lock); err != nil || there == 0 {
			return err
		}
		var grants []time.Duration
		for _, e := range s.Recorder.Events() {
			if e.Worker == c.Worker && e.F == histories.Acquire && e.Type == histories.OK {
				grants = append(grants, e.Time)
			}
		}
		if len(grants) < n {
			return &MissedError{Why: fmt.Sprintf("%s was granted %d leases, want %d", name, len(grants), n)}
		}
		if took := grants[n-1] - grants[0]; took > s.TTL/4 {
			return &MissedError{Why: fmt.Sprintf("%s's %d leases began over %v, want %v at most: what renews the first may have been free again in time for the last",
				name, n, took.Round(time.Millisecond), s.TTL/4)}
		}
		return nil
	}}
}

// RenewalsGetLost loses the renewals of a client's lease on the network, and nothing else.
func RenewalsGetLost(name string) Step {
	return Step{"the renewals of " + name + " get lost on the network", func(ctx context.Context, s *Stage) error {
		c, err := s.client(name)
		if err != nil {
			return err
		}
		lock, err := s.kept()
		if err != nil {
			return err
		}
		victim := nemesis.Victim{Name: name, Holds: c.Holds, Calls: c.Calls}
		return s.Nemesis.Start(ctx, nemesis.RenewalCut(victim, s.lockLinks(name), lock))
	}}
}

// RenewalsArrive ends RenewalsGetLost.
func RenewalsArrive(name string) Step {
	return Step{"renewals of " + name + " would arrive again", func(ctx context.Context, s *Stage) error {
		return s.heal(ctx, nemesis.RenewalCutF, name)
	}}
}

// RenewalHeld waits for the next renewal of a holder, and holds it before the server sees
// it. It is over with LetGo.
func RenewalHeld(name string) Step {
	return Step{name + " sends a renewal; it is held up", func(ctx context.Context, s *Stage) error {
		d, err := s.deciding(s.Cluster.Primary(0))
		if err != nil {
			return err
		}
		hold := s.primary(name).HoldRequest(d.writes())
		for end := s.Clock.Now().Add(s.TTL); ; {
			select {
			case <-hold.Seen():
				return s.Nemesis.Start(ctx, nemesis.Hold(name, hold))
			default:
			}
			if err := s.stop(ctx); err != nil {
				return err
			}
			if s.Clock.Now().After(end) {
				hold.Release()
				return &UnplayableError{Why: fmt.Sprintf("no renewal came within the TTL of %v: want a lock that renews its leases (lockbench list locks)", s.TTL)}
			}
			if err := s.Clock.Sleep(ctx, max(s.TTL/200, time.Millisecond)); err != nil {
				return err
			}
		}
	}}
}

// Hang lets a holder stand still for good, in its section. Its process lives, and with it
// all that the lock does in the background.
func Hang(name string) Step {
	return Step{name + " hangs in its section, for good", func(_ context.Context, s *Stage) error {
		c, err := s.client(name)
		if err != nil {
			return err
		}
		c.Abandon("hangs in its section for good, and its process lives on")
		return nil
	}}
}

// lockLinks are the connections of a client to the servers of the lock.
func (s *Stage) lockLinks(client string) []*wire.Link {
	var links []*wire.Link
	for _, n := range s.Cluster.Nodes() {
		if n.Role != cluster.Register {
			links = append(links, s.Cluster.Link(client, n.Name))
		}
	}
	return links
}
