package workloads

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lockbench/lockbench/cluster"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/locks"
	"github.com/lockbench/lockbench/nemesis"
	"github.com/lockbench/lockbench/wire"
)

// Script is a directed workload: steps in order, gated on what was observed and never
// on time, so that it ends the same way on every backend.
type Script struct {
	Cast  int // how many clients; they are called A, B, C, ...
	Steps []Step
	// Reenters says that clients re-enter the lock, and ask it how often they hold it.
	Reenters bool
	// Extends says that clients extend their leases.
	Extends bool
	// Waits says that clients wait for the lock as its source does.
	Waits bool
	// Queues says that clients wait in a queue and count on its order.
	Queues bool
	// ReleasesTwice says that clients release what they have released.
	ReleasesTwice bool
}

// Step is one step of a script. Text says it in plain English.
type Step struct {
	Text string
	Do   func(ctx context.Context, s *Stage) error
}

// beat separates steps, so that what happened first also has the lower time.
const beat = time.Millisecond

// Clients is the size of the cast.
func (p Script) Clients() int { return p.Cast }

// Run plays the steps. After a step that missed the lock it goes on for as long as it can.
func (p Script) Run(ctx context.Context, s *Stage) error {
	missed := false
	for i, step := range p.Steps {
		if err := s.stop(ctx); err != nil {
			return err
		}
		err := step.Do(ctx, s)
		if s.Hangs.Any() { // whatever the step found, nothing can follow upon it
			return nil
		}
		if err != nil {
			failed := &StepError{N: i + 1, Text: step.Text, Err: err}
			miss, ok := errors.AsType[*MissedError](err)
			switch {
			case ok:
				missed = true
				s.miss(failed.Error(), miss.Key)
			case missed && s.stop(ctx) == nil:
				return nil // it builds on the step that missed
			default:
				return failed
			}
		}
		if err := s.Clock.Sleep(ctx, beat); err != nil {
			return err
		}
		s.sight()
		if s.Done != nil { // after the beat: what a step leaves to others, such as a link that is cut, is done by then
			if err := s.Done(ctx, step); err != nil {
				return fmt.Errorf("after step %d, %q: %w", i+1, step.Text, err)
			}
		}
	}
	return nil
}

// miss records that a step missed the lock; key is as that of a MissedError.
func (s *Stage) miss(why, key string) {
	s.Recorder.Record(histories.Event{
		Process: histories.Nemesis, Worker: histories.Nemesis, Type: histories.Info, F: histories.Missed, Key: key, Value: why,
	})
}

// call is a step in which a client makes one call and the script waits for it. A
// client that does not hold the lock skips what only holders do.
func call(text, name string, f func(context.Context, *Stage, *Client) error) Step {
	return Step{text, func(ctx context.Context, s *Stage) error {
		c, err := s.client(name)
		if err != nil {
			return err
		}
		if err := s.begin(ctx, c, func(ctx context.Context) error { return f(ctx, s, c) }); err != nil {
			return err
		}
		return s.finish(ctx, c)
	}}
}

// Acquire lets a client try once, and again as long as it gets no answer.
func Acquire(name string) Step {
	return acquiring(name+" tries to acquire the lock", name, 1, func(ctx context.Context, s *Stage, c *Client) error {
		return s.ask(ctx, c, func(ctx context.Context) error { return tryOnce(ctx, s, c) })
	})
}

// AcquireEventually lets a client try until a free lock must have been given to it.
func AcquireEventually(name string) Step {
	return call(name+" waits for the lock", name, func(ctx context.Context, s *Stage, c *Client) error {
		return s.wait(ctx, c, s.TTL+2*s.Slack)
	})
}

// Read lets a holder read the register.
func Read(name string) Step {
	return call(name+" reads the register", name, func(ctx context.Context, _ *Stage, c *Client) error { return c.Read(ctx) })
}

// Write lets a holder write what it read, plus one.
func Write(name string) Step {
	return call(name+" writes the register", name, func(ctx context.Context, _ *Stage, c *Client) error { return c.Write(ctx) })
}

// Release lets a holder release.
func Release(name string) Step {
	return call(name+" releases", name, func(ctx context.Context, _ *Stage, c *Client) error { return c.Release(ctx) })
}

// Finish waits for the call that a client is in.
func Finish(name string) Step {
	return Step{name + "'s call ends", func(ctx context.Context, s *Stage) error {
		c, err := s.client(name)
		if err != nil {
			return err
		}
		return s.finish(ctx, c)
	}}
}

// AcquireUntilReplyHeld lets a client try to acquire, and holds the reply of the command that
// takes the lock's key: the server has executed it and the client does not know.
func AcquireUntilReplyHeld(name string) Step {
	return caught(name+" sends the first command of its acquire; the reply is held up", name, tryOnce,
		func(s *Stage) (*wire.Hold, error) {
			d, err := s.deciding(s.Cluster.Primary(0))
			if err != nil {
				return nil, err
			}
			return s.primary(name).HoldReply(d.taken()), nil
		})
}

// ReleaseUntilDeleteHeld lets a holder release, and holds the command that deletes the
// key before the server sees it.
func ReleaseUntilDeleteHeld(name string) Step {
	return caught(name+" releases; the command that deletes the key is held up", name,
		func(ctx context.Context, _ *Stage, c *Client) error { return c.Release(ctx) },
		func(s *Stage) (*wire.Hold, error) {
			d, err := s.deciding(s.Cluster.Primary(0))
			if err != nil {
				return nil, err
			}
			return s.primary(name).HoldRequest(d.writes()), nil
		})
}

// caught is a step in which a call of a client runs into a rule of the wire.
func caught(text, name string, f func(context.Context, *Stage, *Client) error, arm func(*Stage) (*wire.Hold, error)) Step {
	return Step{text, func(ctx context.Context, s *Stage) error {
		c, err := s.client(name)
		if err != nil {
			return err
		}
		hold, err := arm(s)
		if err != nil {
			return err
		}
		if err := s.finish(ctx, c); err != nil {
			return err
		}
		free := s.free(c, s.Keys[0])
		if err := s.begin(ctx, c, func(ctx context.Context) error { return f(ctx, s, c) }); err != nil {
			return err
		}
		if err := s.seen(ctx, c, hold); err != nil {
			return s.freely(free, err)
		}
		return s.Nemesis.Start(ctx, nemesis.Hold(name, hold))
	}}
}

// seen waits until a rule has stopped a command of c, which is in a call.
func (s *Stage) seen(ctx context.Context, c *Client, hold *wire.Hold) error {
	select {
	case <-hold.Seen():
		return nil
	case <-s.pending[c].done:
		hold.Release()
		why := c.Name + "'s call ended and sent no command that the rule could hold"
		if locks.Classify(s.pending[c].err) == locks.Refused {
			return &UnplayableError{Why: why + ": it was refused"}
		}
		return &MissedError{Why: why}
	case <-ctx.Done():
		return ctx.Err()
	}
}

// LetGo lets the held command of a client go on, if there is one, and waits for the
// client's call.
func LetGo(name string) Step {
	return Step{"the held command of " + name + " goes on", func(ctx context.Context, s *Stage) error {
		if s.Nemesis.InForce(nemesis.HoldF, name) {
			if err := s.heal(ctx, nemesis.HoldF, name); err != nil {
				return errors.Join(err, Finish(name).Do(ctx, s))
			}
		}
		return Finish(name).Do(ctx, s)
	}}
}

// Crash ends a client in the middle of whatever it does. Its connections break; one that has
// a process of its own is killed.
func Crash(name string) Step {
	return Step{name + " crashes", func(ctx context.Context, s *Stage) error {
		c, err := s.client(name)
		if err != nil {
			return err
		}
		if err := s.crash(ctx, c); err != nil {
			return err
		}
		for _, fault := range []histories.F{nemesis.HoldF, nemesis.PauseF} {
			if s.Nemesis.InForce(fault, name) { // it ended with its client
				if err := s.Nemesis.Stop(ctx, fault, name); err != nil {
					return err
				}
			}
		}
		return nil
	}}
}

// crash ends c and the call that it is in.
func (s *Stage) crash(ctx context.Context, c *Client) error {
	if c.Process != nil {
		err := c.Crash(func() error {
			_, err := c.Process.Kill(ctx)
			return err
		})
		return errors.Join(err, s.finish(ctx, c))
	}
	for _, l := range s.links(c.Name) {
		l.Cut()
	}
	if err := s.finish(ctx, c); err != nil {
		return err
	}
	return c.Crash(func() error { return nil }) // its process is ours
}

// Pause stops a client: its code stands still, what it sends does not leave, and what is
// sent to it does not arrive. One that has a process of its own is stopped by SIGSTOP.
func Pause(name string) Step {
	return Step{name + " stands still", func(ctx context.Context, s *Stage) error {
		c, err := s.client(name)
		if err != nil {
			return err
		}
		if err := s.Nemesis.Start(ctx, nemesis.Pause(name, c.Gate, s.links(name), c.Process)); err != nil {
			return err
		}
		if !c.Holds() {
			return &MissedError{Why: name + " does not hold the lock that it was to hold while it stands still"}
		}
		return nil
	}}
}

// WriteLate is what a paused holder does as soon as it goes on: it writes.
func WriteLate(name string) Step {
	return Step{name + " was about to write the register", func(ctx context.Context, s *Stage) error {
		c, err := s.client(name)
		if err != nil {
			return err
		}
		return s.begin(ctx, c, c.Write)
	}}
}

// Resume ends a Pause and waits for the client's call. A lock that tells of the loss of a lease
// has time to tell: whether the holder hears of it before its next step is not left to chance.
func Resume(name string) Step {
	return Step{name + " goes on", func(ctx context.Context, s *Stage) error {
		if err := s.Nemesis.Stop(ctx, nemesis.PauseF, name); err != nil {
			return err
		}
		if err := Finish(name).Do(ctx, s); err != nil {
			return err
		}
		c, err := s.client(name)
		if err != nil {
			return err
		}
		return s.hears(ctx, c)
	}}
}

// LeaseEnds waits until no server of the lock has the key any more.
func LeaseEnds() Step {
	return Step{"the lease ends", func(ctx context.Context, s *Stage) error {
		lock, err := s.kept()
		if err != nil {
			return err
		}
		end := s.Clock.Now().Add(2*s.TTL + s.Slack)
		for {
			n, err := s.held(ctx, lock)
			if err != nil {
				return err
			}
			if n == 0 {
				return s.unsighted(s.Keys...)
			}
			s.sight()
			if s.Clock.Now().After(end) {
				return &UnplayableError{Why: fmt.Sprintf("the lock's key is still there after twice its TTL of %v", s.TTL)}
			}
			if err := s.Clock.Sleep(ctx, max(s.TTL/200, time.Millisecond)); err != nil {
				return err
			}
		}
	}}
}

// ReplicaInSync waits until the replica has everything that was written.
func ReplicaInSync() Step {
	return Step{"the replica is in sync", func(ctx context.Context, s *Stage) error {
		r, ok := s.Cluster.(cluster.Replicator)
		if !ok {
			return fmt.Errorf("this backend has no replication")
		}
		return r.Sync(ctx, s.Cluster.Primary(0))
	}}
}

// CutReplication cuts the link between the first master and its replica.
func CutReplication() Step {
	return replicated("the link from the master to its replica is cut", func(_ *Stage, r cluster.Replicator, replica string) nemesis.Fault {
		return nemesis.CutReplication(r, replica)
	})
}

// PromoteReplica makes the replica the master.
func PromoteReplica() Step {
	return replicated("the replica is promoted", func(s *Stage, r cluster.Replicator, replica string) nemesis.Fault {
		return nemesis.Promote(s.Cluster, r, replica, s.Kept())
	})
}

func replicated(text string, fault func(*Stage, cluster.Replicator, string) nemesis.Fault) Step {
	return Step{text, func(ctx context.Context, s *Stage) error {
		r, ok := s.Cluster.(cluster.Replicator)
		if !ok {
			return fmt.Errorf("this backend has no replication")
		}
		replica, err := s.replica()
		if err != nil {
			return err
		}
		return s.Nemesis.Start(ctx, fault(s, r, replica))
	}}
}

// KillMaster ends the first master at once.
func KillMaster() Step {
	return Step{"the master dies", func(ctx context.Context, s *Stage) error {
		k, ok := s.Cluster.(nemesis.Killable)
		if !ok {
			return fmt.Errorf("this backend cannot kill a server")
		}
		master := s.Cluster.Primary(0)
		if err := s.Nemesis.Start(ctx, nemesis.Kill(k, master)); err != nil {
			return err
		}
		return s.hungUp(ctx, master)
	}}
}
