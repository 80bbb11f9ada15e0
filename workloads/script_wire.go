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

// scripts are the commands that run a script.
func scripts(more ...string) []string { return append(more, "EVAL", "EVALSHA") }

// AcquireUntilSetHeld lets a client try to acquire, and holds the command that takes the
// lock before the server sees it: what the client has looked at before, it has seen.
func AcquireUntilSetHeld(name string) Step {
	return caught(name+" tries to acquire; the command that takes the lock is held up", name, tryOnce,
		func(s *Stage) (*wire.Hold, error) {
			d, err := s.deciding(s.Cluster.Primary(0))
			if err != nil {
				return nil, err
			}
			return s.primary(name).HoldRequest(d.takes()), nil
		})
}

// AcquireUntilTakeoverHeld lets a client try to acquire a lock for longer by more than the
// others ask for. It holds the command that takes over what an ended lease has left behind:
// the SETNX that has found it there is let through.
func AcquireUntilTakeoverHeld(name string, more time.Duration) Step {
	text := name + " tries to acquire"
	if more > 0 {
		text += fmt.Sprintf(" for %v more", more)
	}
	return caught(text+"; the command that takes the ended lease over is held up", name,
		func(ctx context.Context, s *Stage, c *Client) error { return c.Acquire(ctx, s.name(), s.TTL+more) },
		func(s *Stage) (*wire.Hold, error) {
			d, err := s.deciding(s.Cluster.Primary(0))
			if err != nil {
				return nil, err
			}
			return s.primary(name).HoldRequest(d.takes()), nil
		})
}

// AcquireLonger lets a client try once, for longer by more than the others ask for.
func AcquireLonger(name string, more time.Duration) Step {
	return call(fmt.Sprintf("%s tries to acquire the lock for %v more", name, more), name, func(ctx context.Context, s *Stage, c *Client) error {
		return c.Acquire(ctx, s.name(), s.TTL+more)
	})
}

func tryOnce(ctx context.Context, s *Stage, c *Client) error { return c.Acquire(ctx, s.name(), s.TTL) }

// AcquireReplyLost lets a client try once. The reply to the command that takes the lock gets
// lost on the network, and the connection with it.
func AcquireReplyLost(name string) Step {
	return Step{name + " tries to acquire; the reply to its first command gets lost", func(ctx context.Context, s *Stage) error {
		c, err := s.client(name)
		if err != nil {
			return err
		}
		if err := s.finish(ctx, c); err != nil {
			return err
		}
		d, err := s.deciding(s.Cluster.Primary(0))
		if err != nil {
			return err
		}
		free := s.free(c, s.Keys[0])
		if err := s.Nemesis.Start(ctx, nemesis.LostReply(name, s.primary(name), d.taken())); err != nil {
			return err
		}
		if err := s.begin(ctx, c, func(ctx context.Context) error { return tryOnce(ctx, s, c) }); err != nil {
			return err
		}
		if err := s.finish(ctx, c); err != nil {
			return err
		}
		return s.freely(free, s.heal(ctx, nemesis.LostReplyF, name))
	}}
}

// heal ends a fault. That it hit nothing is a *MissedError.
func (s *Stage) heal(ctx context.Context, kind histories.F, target string) error {
	if err := s.Nemesis.Stop(ctx, kind, target); err != nil {
		return err
	}
	if why := s.Nemesis.Missed(); why != "" {
		return &MissedError{Why: why}
	}
	return nil
}

// AcquireGivenUp lets a client try to acquire, and holds the commands that take the lock, on
// all servers, until the client has given up.
func AcquireGivenUp(name string) Step {
	return Step{name + " tries to acquire; the command that takes the lock is held up, and " + name + " gives up", func(ctx context.Context, s *Stage) error {
		c, err := s.client(name)
		if err != nil {
			return err
		}
		if err := s.finish(ctx, c); err != nil {
			return err
		}
		patience := c.Timeout
		c.Timeout = max(s.TTL/4, 100*time.Millisecond)
		holds := make([]*wire.Hold, s.Shards)
		for shard := range holds {
			node := s.Cluster.Primary(shard)
			d, err := s.deciding(node)
			if err != nil {
				return err
			}
			holds[shard] = s.Cluster.Link(name, node).HoldRequest(d.takes())
		}
		err = s.begin(ctx, c, func(ctx context.Context) error { return tryOnce(ctx, s, c) })
		for _, h := range holds {
			if err == nil {
				err = s.seen(ctx, c, h)
			}
		}
		if err != nil {
			for _, h := range holds {
				h.Release()
			}
			return err
		}
		if err := s.Nemesis.Start(ctx, nemesis.Hold(name, holds...)); err != nil {
			return err
		}
		err = s.finish(ctx, c)
		c.Timeout = patience
		return err
	}}
}

// LandLate lets the commands of AcquireGivenUp go on, and waits until the servers have
// answered them. Nobody hears the answers.
func LandLate(name string) Step {
	return Step{"the held command of " + name + " reaches its server", func(ctx context.Context, s *Stage) error {
		if !s.Nemesis.InForce(nemesis.HoldF, name) {
			return &MissedError{Why: "no command of " + name + " is held up"}
		}
		answers := make([]*wire.Hold, s.Shards)
		for shard := range answers {
			d, err := s.deciding(s.Cluster.Primary(shard))
			if err != nil {
				return err
			}
			landed := d.writes()
			landed.Before = nil
			answers[shard] = s.Cluster.Link(name, d.node).HoldReply(landed)
		}
		err := s.Nemesis.Stop(ctx, nemesis.HoldF, name)
		for _, a := range answers {
			select {
			case <-a.Seen():
			case <-ctx.Done():
				err = ctx.Err()
			}
			a.Release()
		}
		return err
	}}
}

// ReleaseUntilLookHeld lets a holder release, and holds the reply to the command by which it
// looks whether the lock is its own: what it sees is from before. If looking and deleting
// is one command, it has deleted by then.
func ReleaseUntilLookHeld(name string) Step {
	return ifHolding(name, caught(name+" releases; the reply to its look at the token is held up", name,
		func(ctx context.Context, _ *Stage, c *Client) error { return c.Release(ctx) },
		func(s *Stage) (*wire.Hold, error) {
			d, err := s.deciding(s.Cluster.Primary(0))
			if err != nil {
				return nil, err
			}
			return s.primary(name).HoldReply(d.looks()), nil
		}))
}

// WriteUntilHeld lets a holder write the register, and holds the write after its guard has
// let it pass and before the register sees it.
func WriteUntilHeld(name string) Step {
	return ifHolding(name, caught(name+" writes the register; the write is held up", name,
		func(ctx context.Context, _ *Stage, c *Client) error { return c.Write(ctx) },
		func(s *Stage) (*wire.Hold, error) {
			return s.Cluster.Link(name, s.register()).HoldRequest(wire.Match{Names: scripts()}), nil
		}))
}

// ifHolding is a step of a client that holds the lock; that it does not is a *MissedError.
func ifHolding(name string, step Step) Step {
	return Step{step.Text, func(ctx context.Context, s *Stage) error {
		c, err := s.client(name)
		if err == nil {
			err = s.finish(ctx, c)
		}
		if err != nil {
			return err
		}
		if !c.Holds() {
			return &MissedError{Why: name + " does not hold the lock"}
		}
		return step.Do(ctx, s)
	}}
}

// register is the node of the protected register.
func (s *Stage) register() string {
	for _, n := range s.Cluster.Nodes() {
		if n.Role == cluster.Register {
			return n.Name
		}
	}
	return ""
}

// LeaseTimePasses waits for as long as a lease lasts, and for more: by every right clock
// the leases that there were have ended then, also those that no server ends.
func LeaseTimePasses(more time.Duration) Step {
	text := "the time of the lease passes"
	if more > 0 {
		text += fmt.Sprintf(", and %v more", more)
	}
	return Step{text, func(ctx context.Context, s *Stage) error {
		return s.Clock.Sleep(ctx, s.TTL+more+2*beat)
	}}
}
