package workloads

import (
	"context"
	"fmt"
	"slices"

	"github.com/lockbench/lockbench/locks"
	"github.com/lockbench/lockbench/nemesis"
	"github.com/lockbench/lockbench/wire"
)

// CutOffFrom cuts a client off from the servers of some shards, or of all if none is named,
// until Reconnect. It still reaches the resource.
func CutOffFrom(name string, shards ...int) Step {
	from := "the lock's servers"
	if len(shards) > 0 {
		from = ofShards(shards)
	}
	return Step{fmt.Sprintf("%s is cut off from %s", name, from), func(ctx context.Context, s *Stage) error {
		var nodes []string
		var links []*wire.Link
		for shard := range s.Shards {
			if len(shards) == 0 || slices.Contains(shards, shard) {
				node := s.Cluster.Primary(shard)
				nodes, links = append(nodes, node), append(links, s.Cluster.Link(name, node))
			}
		}
		if len(links) == 0 {
			return nil // the lock has fewer masters than the scenario was written for
		}
		return s.Nemesis.Start(ctx, nemesis.PartitionFrom(name, nodes, links, s.Clock))
	}}
}

// Reconnect ends CutOffFrom. As after Resume, a lock that tells of the loss of a lease has time to
// tell.
func Reconnect(name string) Step {
	return Step{name + " reaches all servers again", func(ctx context.Context, s *Stage) error {
		if !s.Nemesis.InForce(nemesis.PartitionF, name) {
			return nil
		}
		if err := s.Nemesis.Stop(ctx, nemesis.PartitionF, name); err != nil {
			return err
		}
		c, err := s.client(name)
		if err != nil {
			return err
		}
		return s.hears(ctx, c)
	}}
}

// AcquireWithin lets a client try up to so many times, until it has the lock or is refused for
// certain: a connection that broke meanwhile costs the first try.
func AcquireWithin(name string, tries int) Step {
	return acquiring(name+" tries to acquire the lock, again if the connection had broken", name, 1, func(ctx context.Context, s *Stage, c *Client) (err error) {
		for try := range tries {
			if try > 0 {
				if err := c.Clock.Sleep(ctx, beat); err != nil {
					return err
				}
			}
			if err = c.Acquire(ctx, s.name(), s.TTL); err == nil || locks.Classify(err) == locks.Refused {
				return err
			}
		}
		return err
	})
}

// AcquireInTries lets a client try up to so many times, at once, until it has the lock: for
// libraries whose own time-outs a busy machine can miss.
func AcquireInTries(name string, tries int) Step {
	return acquiring(fmt.Sprintf("%s tries to acquire the lock, up to %d times", name, tries), name, 1, func(ctx context.Context, s *Stage, c *Client) (err error) {
		for range tries {
			if err = c.Acquire(ctx, s.name(), s.TTL); err == nil {
				return nil
			}
			if err := c.Clock.Sleep(ctx, beat); err != nil {
				return err
			}
		}
		return err
	})
}

// AcquireUntilFree lets a client that does not hold the lock wait for it, as AcquireEventually
// does.
func AcquireUntilFree(name string) Step {
	return call(name+" waits for the lock, unless it has it", name, func(ctx context.Context, s *Stage, c *Client) error {
		if c.Holds() {
			return nil
		}
		return s.wait(ctx, c, s.TTL+2*s.Slack)
	})
}

// AcquireUntilReplyOfShardHeld lets a client try to acquire, and holds the reply to the
// command that takes the lock's key on the server of one shard.
func AcquireUntilReplyOfShardHeld(name string, shard int) Step {
	text := fmt.Sprintf("%s tries to acquire the lock; the reply of %s is held up", name, ofShards([]int{shard}))
	return caught(text, name, tryOnce,
		func(s *Stage) (*wire.Hold, error) {
			node := s.Cluster.Primary(min(shard, s.Shards-1))
			d, err := s.deciding(node)
			if err != nil {
				return nil, err
			}
			return s.Cluster.Link(name, node).HoldReply(d.taken()), nil
		})
}

// AcquireUnanswered lets a client try to acquire, and does not wait for the answer: its first
// command has been sent to the first shard's server, which stands still. That may be one that
// opens a connection, such as SELECT; those that take the lock follow when it is answered.
func AcquireUnanswered(name string) Step {
	return Step{name + " tries to acquire the lock, and gets no answer yet", func(ctx context.Context, s *Stage) error {
		c, err := s.client(name)
		if err != nil {
			return err
		}
		sent := s.primary(name).HoldRequest(wire.Match{})
		defer sent.Release() // only to see it
		if err := s.begin(ctx, c, func(ctx context.Context) error { return tryOnce(ctx, s, c) }); err != nil {
			return err
		}
		select {
		case <-sent.Seen():
			return nil
		case <-s.pending[c].done:
			return &UnplayableError{Why: "the call ended and had sent no command to the server"}
		case <-ctx.Done():
			return ctx.Err()
		}
	}}
}

// RepliesLost swallows the reply to the command by which a client next takes the lock on the
// server of each of some shards, and breaks that connection: what it asked has been done, and
// it cannot know.
func RepliesLost(name string, shards ...int) Step {
	return Step{fmt.Sprintf("the next replies of %s to %s get lost", ofShards(shards), name), func(ctx context.Context, s *Stage) error {
		var nodes []string
		var links []*wire.Link
		var taken []wire.Match
		for _, shard := range shards {
			if shard < s.Shards {
				node := s.Cluster.Primary(shard)
				d, err := s.deciding(node)
				if err != nil {
					return err
				}
				nodes, links, taken = append(nodes, node), append(links, s.Cluster.Link(name, node)), append(taken, d.taken())
			}
		}
		if len(links) == 0 {
			return nil // the lock has fewer masters than the scenario was written for
		}
		return s.Nemesis.Start(ctx, nemesis.LostReplies(name, nodes, links, taken))
	}}
}

// RepliesArrive ends RepliesLost.
func RepliesArrive(name string) Step {
	return Step{"replies to " + name + " arrive again", func(ctx context.Context, s *Stage) error {
		if !s.Nemesis.InForce(nemesis.LostReplyF, name) {
			return nil
		}
		return s.heal(ctx, nemesis.LostReplyF, name)
	}}
}
