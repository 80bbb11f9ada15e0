package choosing

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/libraries"
	"github.com/lockbench/lockbench/internal/player"
	"github.com/lockbench/lockbench/internal/resource"
	"github.com/lockbench/lockbench/internal/schedule"
	"github.com/lockbench/lockbench/internal/story"
)

// oneWay is how long a message takes to a server of the lock, and back, where costs are measured.
const oneWay = 10 * time.Millisecond

// The steps that are measured, of which the first section opens connections and makes the scripts known.
const (
	lease     = time.Second
	section   = "A acquire; A read; A write; A release; "
	measured  = section + "start latency A by 0.01T; " + section + "stop latency A"
	renewing  = "A acquire; sleep 3T; A release"
	renewedIn = 3 // leases
)

// cost is what a lock and a guard cost. Commands are those that reach a server.
type cost struct {
	commands int           // of an acquire and its release
	took     time.Duration // both, with oneWay to each server
	guarding int           // commands that the guard adds to a section of one read and one write
	renewals int           // commands while the lock is held for three leases
}

// trips are the times that something went to servers and back before the next could begin.
func (c cost) trips() int { return int(c.took / (2 * oneWay)) }

// script plays steps of one client, with a row's lock on its servers.
func script(r row, guard resource.Guard, backend harness.Backend, steps string) (harness.Config, error) {
	lock, err := libraries.Catalogue().Find(r.lock)
	if err != nil {
		return harness.Config{}, err
	}
	parsed, err := schedule.ParseSteps(1, steps)
	if err != nil {
		return harness.Config{}, err
	}
	s := schedule.Schedule{Clients: 1, Steps: parsed}
	return harness.Config{
		Test:       harness.Test{Name: "cost", Lock: lock, Guard: guard, Workload: player.Script{Schedule: s}, TTL: lease, Seed: 1},
		Deployment: harness.Deployment{Backend: backend, Replicas: r.servers.replicas},
		Output:     harness.Output{CommandLog: true, NoCauses: true},
	}, nil
}

// played returns the calls of A and what crossed the wire for each, of a run in which all of them ended well.
func played(ctx context.Context, cfg harness.Config) (calls []histories.Op, sent []histories.Exchange, err error) {
	res, err := harness.Run(ctx, cfg)
	if err != nil {
		return nil, nil, err
	}
	ops, err := histories.Pair(res.Events)
	if err != nil {
		return nil, nil, err
	}
	for _, o := range ops {
		if o.Fault() || o.Invoke.Worker != 0 || o.Invoke.Single() {
			continue
		}
		if o.Outcome() != histories.OK {
			return nil, nil, fmt.Errorf("%s of %s ended with %s %s", o.Invoke.F, cfg.Lock.Name, o.Outcome(), o.Complete.Err)
		}
		calls = append(calls, o)
	}
	sent = slices.DeleteFunc(res.Exchanges, func(x histories.Exchange) bool {
		return x.Client != histories.WorkerName(0) || story.Setup(x)
	})
	return calls, sent, nil
}

// within counts the commands that were sent from one instant to another.
func within(sent []histories.Exchange, from, to time.Duration) (n int) {
	for _, x := range sent {
		if from <= x.Sent && x.Sent <= to {
			n++
		}
	}
	return n
}

// measure measures what a row costs, in virtual time.
func measure(ctx context.Context, r row) (c cost, err error) {
	inSection := map[resource.Guard]int{}
	for _, guard := range []resource.Guard{resource.None, r.guard} {
		cfg, err := script(r, guard, harness.Embedded(), measured)
		if err != nil {
			return c, err
		}
		calls, sent, err := played(ctx, cfg)
		if err != nil {
			return c, err
		}
		if len(calls) < 8 {
			return c, fmt.Errorf("%s made %d calls, want two sections of four", r.lock, len(calls))
		}
		acquire, read, write, release := calls[4], calls[5], calls[6], calls[7]
		c.took, c.commands = 0, 0
		for _, o := range []histories.Op{acquire, release} {
			c.took += o.Complete.Time - o.Invoke.Time
			c.commands += within(sent, o.Invoke.Time, o.Complete.Time)
		}
		inSection[guard] = within(sent, read.Invoke.Time, write.Complete.Time)
	}
	c.guarding = inSection[r.guard] - inSection[resource.None]
	if !r.long {
		return c, nil
	}
	cfg, err := script(r, r.guard, harness.Embedded(), renewing)
	if err != nil {
		return c, err
	}
	calls, sent, err := played(ctx, cfg)
	if err != nil {
		return c, err
	}
	c.renewals = within(sent, calls[0].Complete.Time+1, calls[1].Invoke.Time-1)
	return c, nil
}
