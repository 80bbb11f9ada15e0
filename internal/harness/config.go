// Package harness runs a workload against a lock on a backend: it brings the
// deployment up, lets the clients and the faults play, records the history, takes
// everything down and has the history judged. It knows neither the catalogue, whose runs
// package scenarios makes, nor where containers are run, which package docker does.
package harness

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/player"
	"github.com/lockbench/lockbench/internal/redis/cluster"
	"github.com/lockbench/lockbench/internal/resource"
	"github.com/lockbench/lockbench/locks"
	"github.com/lockbench/lockbench/nemesis"
)

// Config says what to run, where, what is expected of it, and what is kept. The zero value of a field marked optional
// means its default.
type Config struct {
	Test
	Deployment
	Expected
	Output
	Seams Seams // of tests alone
}

// Test is what is tested, and how. It decides what happens in a run, and what its judges are told.
type Test struct {
	Name     string // of the scenario or the workload; names the run's directory
	Lock     locks.Spec
	Guard    resource.Guard
	Workload player.Workload
	TTL      time.Duration
	Seed     uint64
	Key      string         // optional: orders/42
	Keys     int            // optional: how many keys random load chooses from; 0 means 1
	Faults   bool           // the workload plans faults
	Nemesis  []nemesis.Kind // optional: random faults
	Clocks   bool           // the workload sets the clocks of servers
	// Threads is how many clients, from A on, are threads of one process. Optional: none are.
	Threads int
	// InProcess is why clients cannot be processes of their own. Optional: they can.
	InProcess string
	// FailFast ends random load at the first violation of a property that is not given up in
	// Want. The steps of a scenario are always played to their end, as its verdicts are those
	// of all of them.
	FailFast bool
	// Overtaking is how often a client that waits may be overtaken by each other one. Optional:
	// fairness is not judged.
	Overtaking int
	Rate       float64       // optional, for the record: see workloads.Load
	Limit      time.Duration // optional, for who follows the run: how long random load goes on
	told       string        // what the workload draws by the seed, for people
}

// Deployment is where the servers and the clients live.
type Deployment struct {
	Backend  Backend // optional: Embedded
	Replicas int     // optional: of the lock's first master
	// ClusterMode says that each of the lock's masters is a Redis Cluster of its own.
	ClusterMode bool
	// Sentinels watch over the lock's first master, and clients ask them for it. Optional: none
	// do, and clients know.
	Sentinels int
	// Worker is the command of a process that each client runs in; empty: they live in ours.
	Worker []string
}

// Expected is what the report is set against. No judge knows of it.
type Expected struct {
	Want   checker.Expectation // optional: every property must pass or not apply
	Expect checker.Verdict     // optional: Pass or Fail for all properties together, whatever Want says
	// Peers measures what a run broke, and was not expected to break, by other locks, and by the causes of
	// it. Optional: all of it decides. Nothing is measured if Expect says what is wanted.
	Peers func(context.Context, Config, []checker.Judged, []checker.Cause) (checker.Peers, error)
	Why   string // optional: why this very lock breaks, told if it breaks as Want says
	Note  string // optional: what this very lock shows, told if it comes out as Want says
}

// Output is what is kept of a run, and told.
type Output struct {
	Out        string // directory of runs; empty: nothing is kept
	CommandLog bool   // what crosses the wire is kept, up to a length
	Snapshots  bool   // optional: what there is to see after each step of a script is kept
	Calls      bool   // optional: when the calls of a script begin and end is kept
	// NoCauses says that verdicts are wanted, and not why properties failed. Optional: causes are derived.
	NoCauses bool
	Pitfall  string // optional: the scenario's number
	Title    string // optional
	Command  string // optional: how to repeat the run
	Version  string // optional: of lockbench
	// Alternatives are commands that play the same steps against locks that keep what this one breaks. Optional.
	Alternatives []string
	Log          io.Writer // optional: what a backend warns of, and what takes long
	// Seen is called with the time of the run whenever something is recorded. Optional; it must
	// not block.
	Seen func(time.Duration)
}

// DefaultKey is the lock's key unless Config says otherwise.
const DefaultKey = "orders/42"

// On returns c on a backend, or why that cannot have the servers that c asks for.
func (c Config) On(b Backend) (Config, error) {
	c.Backend = b.orDefault()
	return c, c.suits()
}

// Lease returns the lease that the user asked for, or if that is 0 the one in virtual time or on real servers,
// whichever the backend has. A lock that counts in seconds gets whole ones.
func (c Config) Lease(asked, virtual, onServers time.Duration) (time.Duration, error) {
	switch {
	case asked > 0 && c.Lock.WholeSeconds && c.Lock.Sound && asked%time.Second != 0:
		return 0, fmt.Errorf("lock %s counts its TTL in whole seconds, and %v is none", c.Lock.Name, asked)
	case asked > 0:
		return asked, nil
	case c.Backend.orDefault().Virtual():
		onServers = virtual
	}
	if c.Lock.WholeSeconds {
		onServers = (onServers + time.Second - 1).Truncate(time.Second)
	}
	return onServers, nil
}

func (c Config) withDefaults() (Config, error) {
	c.Backend = c.Backend.orDefault()
	c = c.drawn()
	if c.Key == "" {
		c.Key = DefaultKey
	}
	if err := c.Backend.openable(); err != nil {
		return c, err
	}
	if err := c.canEmploy(); err != nil {
		return c, err
	}
	if c.Threads > locks.MostThreads {
		return c, fmt.Errorf("%d clients are threads of one process, want at most %d, which share its connections", c.Threads, locks.MostThreads)
	}
	if c.TTL <= 0 {
		return c, fmt.Errorf("TTL is %v, want more than 0", c.TTL)
	}
	return c, nil
}

// drawn is c with what its workload draws by the seed. Clients that are processes of their own have no threads.
func (c Config) drawn() Config {
	w, ok := c.Workload.(player.Drawn)
	if !ok {
		return c
	}
	lock := c.Lock
	lock.Promises.Threads = lock.Promises.Threads && len(c.Worker) == 0
	var setup player.Setup
	c.Workload, setup = w.Drawn(c.Seed, lock)
	c.Threads, c.Overtaking, c.told = setup.Threads, setup.Overtaking, setup.Told
	return c
}

// keys are the names of the keys: Key, or if there are several Key/1, Key/2 and so on.
func (t Test) keys() []string {
	if t.Keys <= 1 {
		return []string{t.Key}
	}
	var keys []string
	for i := range t.Keys {
		keys = append(keys, fmt.Sprintf("%s/%d", t.Key, i+1))
	}
	return keys
}

func (c Config) topology() cluster.Topology {
	return cluster.Topology{Masters: c.Lock.Masters, Replicas: max(c.Replicas, c.Lock.Replicas), Sentinels: c.Sentinels, ClusterMode: c.ClusterMode}
}

// slack is how much longer than its TTL, and than what the lock says of itself
// (locks.Promises.Tolerance), a free lock may stay taken: what clients take to notice.
func (t Test) slack() time.Duration { return t.TTL/4 + 50*time.Millisecond }
