// Package player plays what clients do with a lock: a Stage with clients, servers and faults, the schedule that a Script walks them
// through step by step, and what is looked at when they are done. Random loads stand on the same stage, in package workloads.
package player

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/redis/cluster"
	"github.com/lockbench/lockbench/internal/schedule"
	"github.com/lockbench/lockbench/locks"
	"github.com/lockbench/lockbench/nemesis"
)

// Workload is what the clients of one run do.
type Workload interface {
	// Clients is how many there are.
	Clients() int
	// Run does it. An error means that the harness could not do it, not that the lock
	// failed.
	Run(ctx context.Context, s *Stage) error
}

// Drawn is a Workload that draws once, by the seed of its run, what its clients do.
type Drawn interface {
	Workload
	// Drawn returns it as a seed draws it for a lock, and how it is set up.
	Drawn(seed uint64, lock locks.Spec) (Workload, Setup)
}

// Setup is how what a Workload draws is set up.
type Setup struct {
	Threads    int    // how many clients, from A on, are threads of one process
	Overtaking int    // how often a client that waits may be overtaken by each other one; 0: fairness is not judged
	Told       string // what was drawn, for people
}

// Stage is where a workload plays: the deployment, the clients and the faults.
type Stage struct {
	Cluster  cluster.Cluster
	Shards   int // masters of the lock
	Clients  []*Client
	Prober   *Client // takes no part in the workload; tries the lock at the end
	Nemesis  *nemesis.Injector
	Recorder *histories.Recorder
	Clock    Clock // of the scheduler of faults and steps
	Rand     *rand.Rand
	Keys     []Key // that random load chooses from; scripts use the first
	// Last is what the prober does with each key once it has it; nil: nothing.
	Last func(ctx context.Context, prober *Client, key string)
	TTL  time.Duration
	// DefaultTTL is for how long a lease lasts that was acquired without a TTL; 0: it has no end.
	DefaultTTL time.Duration
	Slack      time.Duration // how much longer than TTL a free lock may stay taken
	// Done is told of each step of a script once it has been done, before the next begins: a
	// look from outside that no client notices. nil: nobody is.
	Done func(ctx context.Context, step schedule.Step) error
	// Called is told of each call of a step of a script when it begins: whose, and the how manieth of that client. What it returns is
	// called when the call has ended. Of no client and 0 it is told when the steps are over. Both must be safe for concurrent use. Nil:
	// nobody is told.
	Called func(client string, n int) (ended func())
	// Late is told of what takes too long on a machine that is too busy, and how long the lease lasts that it is about. One is from a command
	// that a lock sent by itself, and that a rule held up, to the script's next step, if that is a call: the lock may have given the command
	// up by then. The other is from the asking for a lease to the end of a step by which it has ended, if no step let time pass. Nil: nobody
	// is told.
	Late func(d, lease time.Duration)
	// Interrupted returns why the run should end early, or nil. In virtual time a context
	// from outside cannot wake anybody, so long loops ask.
	Interrupted func() error
	// Enough reports whether random load may end before its time, as all is seen that was looked
	// for. Nil means never.
	Enough func() bool

	// Threads is how many clients, from the first on, share connections.
	Threads int

	// Hangs are calls that did not return. One ends the run. Nil: that is not looked at.
	Hangs *Hangs

	pending map[*Client]*undertaking
	sighted map[string]bool     // keys whose lock a server was seen to hold; see sight
	rules   map[string][]*rule  // by client, the oldest first
	once    map[string]once     // by client: what hits one command of its next call
	hit     map[string][]string // by fault, and the client of its step: what faults have hit that steps began
	// freeBefore reports whether the first key's lock was certainly free before the call that a client is in.
	freeBefore map[*Client]bool
	calls      map[string]*calls // by client
	since      time.Time         // when the command came that a rule has just held up, in no call; zero: none has; see lateAfterHold
	hurried    bool              // no step of the script has let time pass; see lateForLeases
	confirms   bool              // a master takes writes only with a replica (min-replicas-to-write)
}

// Satisfied reports whether random load need not go on.
func (s *Stage) Satisfied() bool { return s.Hangs.Any() || s.Enough != nil && s.Enough() }

// client finds a client by name.
func (s *Stage) client(name string) (*Client, error) {
	for _, c := range s.Clients {
		if c.Name == name {
			return c, nil
		}
	}
	return nil, fmt.Errorf("the script names client %q, and there are %d clients", name, len(s.Clients))
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

// undertaking is a call that a client is in.
type undertaking struct {
	before int           // commands that clients had sent when it began
	once   string        // the key whose lock it tries once to acquire; empty: it does not
	done   chan struct{} // closed when it has ended
	err    error         // valid then
}

// begin starts a call of c and does not wait for it. It first waits for the call
// before it.
func (s *Stage) begin(ctx context.Context, c *Client, call func(context.Context) error) error {
	if err := s.finish(ctx, c); err != nil {
		return err
	}
	if s.pending == nil {
		s.pending = map[*Client]*undertaking{}
	}
	u := &undertaking{before: s.sent(), done: make(chan struct{})}
	s.pending[c] = u
	go func() {
		defer close(u.done)
		u.err = call(ctx) // recorded by the client
	}()
	return nil
}

// finish waits for the call that c is in, if any. What became of it is recorded; that it put
// the lock to no test is a *MissedError, and that the script has nothing to say of the lock an *UnplayableError.
func (s *Stage) finish(ctx context.Context, c *Client) error {
	u, ok := s.pending[c]
	if !ok {
		return nil
	}
	prompt := func() error { return nil }
	if u.once != "" && s.isHad(u.once) {
		prompt = s.promptly(c)
	}
	select {
	case <-u.done:
		delete(s.pending, c)
		if err := prompt(); err != nil {
			return err
		}
		if missed, ok := errors.AsType[*MissedError](u.err); ok {
			return missed
		}
		if unplayable, ok := errors.AsType[*UnplayableError](u.err); ok {
			return unplayable
		}
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// frees notes whether the first key's lock was certainly free before the call that a client begins.
func (s *Stage) frees(c *Client, free bool) {
	if s.freeBefore == nil {
		s.freeBefore = map[*Client]bool{}
	}
	s.freeBefore[c] = free
}
