package explore

import (
	"context"
	"encoding/binary"
	"hash/fnv"
	"slices"
	"strconv"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/redis/cluster"
	"github.com/lockbench/lockbench/internal/resource"
	"github.com/lockbench/lockbench/internal/schedule"
	"github.com/lockbench/lockbench/locks"
)

// Outcome is what a run of a program came to.
type Outcome struct {
	Fails   []checker.Property // that count
	Fail    []string           // all that are broken, as schedules name them
	Unknown []string           // of which nothing can be said
	Points  []Point
	Calls   []harness.Call     // in the order in which they began
	Polls   int                // commands that are no points: there were many of the name in one call
	Pass    []checker.Property // that were put to the test, and hold
	Causes  []checker.Cause    // of what is broken, in a program that asks for them
	Missed  bool               // something that was to happen did not
	Stalled bool               // lockbench, or the machine, stood still
	Digest  uint64             // of all events: of two runs of one schedule it is the same
}

// Player plays a program with a lock, as Run does.
type Player func(ctx context.Context, p Program, lock locks.Spec) (Outcome, error)

// InProcess returns the player that plays in this process. It is safe for concurrent use.
func InProcess() Player {
	backend := harness.Embedded()
	return func(ctx context.Context, p Program, lock locks.Spec) (Outcome, error) {
		return Run(ctx, p, lock, backend)
	}
}

// Run plays a program with a lock in virtual time. An error is of the harness, or says that the run is not applicable
// (harness.NotApplicable).
func Run(ctx context.Context, p Program, lock locks.Spec, backend harness.Backend) (Outcome, error) {
	cfg, err := p.config(lock)
	if err != nil {
		return Outcome{}, err
	}
	if cfg, err = cfg.On(backend); err != nil {
		return Outcome{}, err
	}
	return p.outcome(ctx, lock, cfg)
}

// outcome is what a run of the program comes to.
func (p Program) outcome(ctx context.Context, lock locks.Spec, cfg harness.Config) (Outcome, error) {
	cfg.Seed = max(p.Seed, 1)
	res, err := harness.Run(ctx, cfg)
	if harness.Unplayed(err) && p.rules() > 1 { // one deviation has taken away what the next one was to hold
		return Outcome{Missed: true}, nil
	}
	if err != nil {
		return Outcome{}, err
	}
	out := Outcome{Calls: res.Calls, Missed: slices.ContainsFunc(res.Events, func(e histories.Event) bool { return e.F == histories.Missed })}
	out.Points, out.Polls = points(p, lock, res)
	out.Digest, out.Stalled = digest(res.Events), res.Stalled()
	if p.Causes {
		out.Causes = res.Causes
	}
	for _, r := range res.Report.Results {
		switch r.Verdict {
		case checker.Fail:
			out.Fails = append(out.Fails, r.Property)
			out.Fail = append(out.Fail, string(r.Property))
		case checker.Pass:
			out.Pass = append(out.Pass, r.Property)
		case checker.Unknown:
			out.Unknown = append(out.Unknown, string(r.Property))
		}
	}
	of := seen{res.Events, res.Report.Result(checker.Fencing).Witness, p.Guard == resource.Fence.String()}
	out.Fails = counted(out.Fails, of, lock, cfg.TTL)
	return out, nil
}

// digest tells histories apart.
func digest(events []histories.Event) uint64 {
	h := fnv.New64a()
	var b []byte
	for _, e := range events {
		b = b[:0]
		for _, n := range []int64{int64(e.Time), int64(e.Process), int64(e.Type), int64(e.TTL), e.Token} {
			b = binary.AppendVarint(b, n)
		}
		for _, text := range []string{string(e.F), e.Value, e.Err} {
			b = append(append(b, text...), 0)
		}
		_, _ = h.Write(b) // a hash takes everything
	}
	return h.Sum64()
}

// mostPolls is how many commands of one name in one call are points, and the last one: a client that polls would have thousands.
const mostPolls = 2

// points are the commands of a run's clients, in an order that does not depend on who of several was seen first, and how many of them
// were left out as polls.
func points(p Program, lock locks.Spec, res harness.Result) (all []Point, polls int) {
	servers := map[string]string{}
	for i, n := range (cluster.Topology{Masters: lock.Masters}).Nodes() {
		servers[n.Name] = strconv.Itoa(i + 1)
		if n.Role == cluster.Register {
			servers[n.Name] = schedule.Register
		}
	}
	seen := map[Point]int{}
	for _, x := range res.Exchanges {
		call, within := callAt(res.Calls, x.Client, x.Sent)
		server, name := servers[x.Node], x.Words
		if !within || server == "" || len(name) == 0 || prelude(name[0]) {
			continue
		}
		if slices.Index(p.Names(), x.Client) < p.Threads {
			call = 0
		}
		at := Point{Client: x.Client, Call: call, Server: server, What: written(name[0])}
		seen[at]++
		at.Nth = seen[at]
		all = append(all, at)
	}
	sent := len(all)
	all = slices.DeleteFunc(all, func(at Point) bool {
		nth := at.Nth
		at.Nth = 0
		return nth > mostPolls && nth < seen[at]
	})
	return all, sent - len(all)
}

// callAt is the call that a client is in, or that it was in last, at an instant. within says that there is one, and that the steps
// are not over.
func callAt(calls []harness.Call, client string, at time.Duration) (n int, within bool) {
	for _, c := range calls {
		switch {
		case c.At > at:
		case c.Client == client:
			n = max(n, c.N)
		case c.Client == "":
			return 0, false
		}
	}
	return n, n > 0
}

// prelude says of a command that it is about the connection alone, or about scripts.
func prelude(name string) bool {
	return slices.Contains([]string{"HELLO", "AUTH", "CLIENT", "SELECT", "PING", "SCRIPT", "FUNCTION", "SUBSCRIBE", "UNSUBSCRIBE", "PSUBSCRIBE", "PUNSUBSCRIBE"}, name)
}

// written is how a rule names a command.
func written(name string) string {
	if name == "EVAL" || name == "EVALSHA" || name == "FCALL" {
		return schedule.Script
	}
	return name
}
