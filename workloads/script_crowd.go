package workloads

import (
	"context"
	"fmt"
	"strings"

	"github.com/lockbench/lockbench/cluster"
)

// Await lets a client wait for the lock as its users do, then work and release. The step is
// over once the client has asked; see TurnsEnd.
func Await(name string) Step {
	return Step{name + " waits for the lock, to read and write the register under it", func(ctx context.Context, s *Stage) error {
		c, err := s.client(name)
		if err != nil {
			return err
		}
		before := s.sent()
		if err := s.begin(ctx, c, func(ctx context.Context) error { return c.turn(ctx, s) }); err != nil {
			return err
		}
		return s.until(ctx, c, fmt.Sprintf("%s's first command", name), func() bool { return s.sent() > before })
	}}
}

// turn is what a client does that waits for the lock.
func (c *Client) turn(ctx context.Context, s *Stage) error {
	if err := c.Await(ctx, s.name(), s.TTL); err != nil {
		return err
	}
	_ = c.Read(ctx) // recorded, as all calls are
	_ = c.Write(ctx)
	return c.Release(ctx)
}

// TurnsEnd waits until clients that wait for the lock have had it.
func TurnsEnd(names ...string) Step {
	return Step{strings.Join(names, ", ") + " have their turns", func(ctx context.Context, s *Stage) error {
		waiting, err := s.clients(names...)
		if err != nil {
			return err
		}
		return s.finishAll(ctx, waiting)
	}}
}

// Work lets time pass in the section of a holder: a number of TTLs.
func Work(name string, ttls float64) Step {
	return Step{fmt.Sprintf("%s works for %v TTLs", name, ttls), func(ctx context.Context, s *Stage) error {
		return s.Clock.Sleep(ctx, s.ttls(ttls))
	}}
}

// AwaitUntilPoolEmpty lets threads of one process wait for the lock, one after the other, each
// on a connection of its own. Waiters that rest between two tries may never need as many at
// once: the script goes on after a quarter of a TTL. That one waits no more by then, or never
// had to, is a *MissedError.
func AwaitUntilPoolEmpty(process string, threads ...string) Step {
	return Step{strings.Join(threads, " and ") + " wait for the lock, each on a connection", func(ctx context.Context, s *Stage) error {
		link := s.primary(process)
		before := link.CommandsByConn()
		used := func() (n int) {
			for conn, commands := range link.CommandsByConn() {
				if commands > before[conn] {
					n++
				}
			}
			return n
		}
		for _, name := range threads {
			if err := Await(name).Do(ctx, s); err != nil {
				return err
			}
		}
		end := s.Clock.Now().Add(s.TTL / 4)
		for used() < len(threads) && s.Clock.Now().Before(end) {
			if err := s.Clock.Sleep(ctx, beat); err != nil {
				return err
			}
		}
		return s.stillWait(threads...)
	}}
}

// stillWait says of the first of some clients whose call is over that it does not wait.
func (s *Stage) stillWait(names ...string) error {
	waiting, err := s.clients(names...)
	if err != nil {
		return err
	}
	for _, c := range waiting {
		select {
		case <-s.pending[c].done:
			return &MissedError{Why: c.Name + " does not wait for the lock: its call is over"}
		default:
		}
	}
	return nil
}

// sent is how many commands all clients have sent to the lock's servers.
func (s *Stage) sent() (n int) {
	for _, c := range s.Clients {
		n += s.sentBy(c.Name)
	}
	return n
}

// sentBy is how many commands went over the connections of one client to the lock's servers.
func (s *Stage) sentBy(client string) (n int) {
	for _, node := range s.Cluster.Nodes() {
		if node.Role != cluster.Register {
			n += s.Cluster.Link(client, node.Name).Commands()
		}
	}
	return n
}

// until waits until c, which is in a call, has come to a point, or until its call has ended.
func (s *Stage) until(ctx context.Context, c *Client, what string, reached func() bool) error {
	for !reached() {
		select {
		case <-s.pending[c].done:
			return nil // it came further than that
		case <-ctx.Done():
			return fmt.Errorf("%s did not come: %w", what, ctx.Err())
		default:
		}
		if err := s.Clock.Sleep(ctx, beat); err != nil {
			return err
		}
	}
	return nil
}
