// Package harness runs a workload against a lock on a backend: it brings the
// deployment up, lets the clients and the faults play, records the history, takes
// everything down and has the history judged. It is the one room that knows all others.
package harness

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/cluster"
	"github.com/lockbench/lockbench/locks"
	"github.com/lockbench/lockbench/nemesis"
	"github.com/lockbench/lockbench/resource"
	"github.com/lockbench/lockbench/scenarios"
	"github.com/lockbench/lockbench/workloads"
)

// Config says what to run. The zero value of a field marked optional means its default.
type Config struct {
	Name     string // of the scenario or the workload; names the run's directory
	Pitfall  string // optional: the scenario's number
	Title    string // optional
	Why      string // optional: why this very lock breaks, told if it breaks as Want says
	Note     string // optional: what this very lock shows, told if it comes out as Want says
	Workload workloads.Workload
	Tape     bool           // what crosses the wire is kept, up to a length
	Album    bool           // optional: what there is to see after each step of a script is kept
	Faults   bool           // the workload plans faults
	Nemesis  []nemesis.Kind // optional: random faults
	Clocks   bool           // the workload sets the clocks of servers
	Lock     locks.Spec
	Guard    resource.Guard
	Backend  string  // optional: Embedded
	Servers  Servers // of backend External
	// Worker is the command of a process that each client runs in; empty: they live in ours.
	Worker   []string
	Replicas int // optional: of the lock's first master
	// InProcess is why clients cannot be processes of their own. Optional: they can.
	InProcess string
	// Threads is how many clients, from A on, are threads of one process. Optional: none are.
	Threads int
	// ClusterMode says that each of the lock's masters is a Redis Cluster of its own.
	ClusterMode bool
	// Sentinels watch over the lock's first master, and clients ask them for it. Optional: none
	// do, and clients know.
	Sentinels int
	Key       string  // optional: orders/42
	Keys      int     // optional: how many keys random load chooses from; 0 means 1
	Rate      float64 // optional: for the record; see workloads.Load
	TTL       time.Duration
	Seed      uint64
	// FailFast ends random load at the first violation of a property that is not given up in
	// Want. The steps of a scenario are always played to their end, as its verdicts are those
	// of all of them.
	FailFast bool
	Want     checker.Expectation // optional: every property must pass or not apply
	Expect   checker.Verdict     // optional: Pass or Fail for all properties together, whatever Want says
	// Peers measures what a run broke, and was not expected to break, by other locks. Optional:
	// all of it decides. Nothing is measured if Expect says what is wanted.
	Peers func(context.Context, Config, []checker.Judged) (checker.Peers, error)
	// Survivors are the locks that keep, under the same steps, what this one breaks; for
	// the report.
	Survivors []scenarios.Case
	// Alternatives are commands that play the same steps against Survivors; for the report.
	Alternatives []string
	// Overtaking is how often a client that waits may be overtaken by each other one. Optional:
	// fairness is not judged.
	Overtaking int
	Limit      time.Duration // optional, for who follows the run: how long random load goes on
	// Seen is called with the time of the run whenever something is recorded. Optional; it must
	// not block.
	Seen    func(time.Duration)
	Out     string    // directory of runs; empty: nothing is kept
	Command string    // optional: how to repeat the run
	Version string    // optional: of lockbench
	Log     io.Writer // optional: what a backend warns of, and what takes long
	Seams   Seams     // of tests alone
}

// The backends.
const (
	Embedded = "embedded"
	Process  = "process"
	Docker   = "docker"
	External = "external"
)

// Backends lists every backend, the default first.
func Backends() []string { return []string{Embedded, Process, Docker, External} }

// DefaultKey is the lock's key unless Config says otherwise.
const DefaultKey = "orders/42"

// ForScenario returns the configuration of a scenario for a lock and a guard on a
// backend. A ttl of 0 means the scenario's own.
func ForScenario(s scenarios.Scenario, lock locks.Spec, guard resource.Guard, backend string, ttl time.Duration) (Config, error) {
	if err := fits(s, lock, guard); err != nil {
		return Config{}, err
	}
	if why := s.Gaps[backend]; why != "" {
		return Config{}, &GapError{Scenario: s.Name, Backend: backend, Why: why}
	}
	if backend == External && s.Replicas > 0 {
		return Config{}, notExternal("scenario " + s.Name + " fails over to a replica")
	}
	if err := canServe(lock, backend); err != nil {
		return Config{}, err
	}
	ttl, err := leaseOf(lock, ttl, s.TTL, s.RealTTL, backend)
	if err != nil {
		return Config{}, err
	}
	c := s.Case(lock.Name, guard)
	cfg := Config{
		Name: s.Name, Pitfall: s.ID, Title: s.Title,
		Workload: s.Script, Tape: true, Faults: !s.Faultless,
		Lock: lock, Guard: guard, Backend: backend, Replicas: s.Replicas, Threads: s.Threads, InProcess: s.InProcess,
		ClusterMode: s.ClusterMode, Clocks: s.Clocks, Keys: s.Keys, TTL: ttl,
		Want: c.Want, Note: c.Note, Overtaking: s.Overtaking,
	}
	if broken := s.Broken(); c.Lock == broken.Lock && c.Guard == broken.Guard && c.Remedy == broken.Remedy {
		cfg.Why = s.Why // and no other lock's reason
	}
	if !s.Names(lock.Name, guard) || !s.Saves(c) { // it may break as the broken lock does
		cfg.Survivors = s.Survivors()
	}
	return cfg, nil
}

// GapError says that a backend cannot play a scenario.
type GapError struct{ Scenario, Backend, Why string }

func (e *GapError) Error() string {
	return fmt.Sprintf("scenario %s cannot run on backend %s: %s", e.Scenario, e.Backend, e.Why)
}

// leaseOf is the lease that the user asked for, or that of the backend. A lock that counts
// in seconds gets whole ones.
func leaseOf(lock locks.Spec, asked, inBubble, onServers time.Duration, backend string) (time.Duration, error) {
	switch {
	case asked > 0 && lock.WholeSeconds && lock.Sound && asked%time.Second != 0:
		return 0, fmt.Errorf("lock %s counts its TTL in whole seconds, and %v is none", lock.Name, asked)
	case asked > 0:
		return asked, nil
	case backend == Embedded || backend == "":
		onServers = inBubble
	}
	if lock.WholeSeconds {
		onServers = (onServers + time.Second - 1).Truncate(time.Second)
	}
	return onServers, nil
}

// Load is random load on a lock.
type Load struct {
	Workload string // optional: the first of Workloads
	Clients  int
	Rounds   int           // of each client; 0 means 20, or with faults as many as fit into Limit
	Limit    time.Duration // if not 0, as many rounds as fit into it; with faults 0 means 20 TTLs
	Rate     float64       // optional: rounds that begin per second, of all clients together
	Keys     int           // optional: how many keys clients choose from; 0 means 1
	Nemesis  []string      // kinds of random faults; none: no faults
}

// ForWorkload returns the configuration of random load. A ttl of 0 means 3 s in virtual
// time and 1 s on real servers. An unknown workload or fault is a *locks.UnknownError.
func ForWorkload(load Load, lock locks.Spec, guard resource.Guard, backend string, ttl time.Duration) (Config, error) {
	if load.Workload == "" {
		load.Workload = Workloads()[0]
	}
	kind, err := workloads.Find(load.Workload)
	if err != nil {
		return Config{}, err
	}
	for _, unfit := range []error{kind.Needs(lock), guard.Supports(lock)} {
		if unfit != nil {
			return Config{}, &UnfitError{unfit}
		}
	}
	kinds, err := nemesis.Find(load.Nemesis)
	if err == nil {
		err = nemesis.Compatible(kinds)
	}
	if err != nil {
		return Config{}, err
	}
	if err := canServe(lock, backend); err != nil {
		return Config{}, err
	}
	if c, ok := deployments()[backend]; ok {
		for _, k := range kinds {
			if err := k.Needs(c); err != nil {
				return Config{}, &NeedsError{Nemesis: k.Name, Backend: backend, Why: err}
			}
		}
	}
	if ttl, err = leaseOf(lock, ttl, 3*time.Second, time.Second, backend); err != nil {
		return Config{}, err
	}
	switch {
	case load.Rounds > 0 || load.Limit > 0:
	case len(kinds) > 0:
		load.Limit = 20 * ttl
	default:
		load.Rounds = 20
	}
	size := workloads.Load{N: load.Clients, Rounds: load.Rounds, Limit: load.Limit, Rate: load.Rate}
	if len(kinds) > 0 {
		size.Section = ttl / 4 // long enough for faults to find holders
	}
	cfg := Config{
		Name: kind.Name, Title: "random load without faults", Workload: kind.New(size),
		Lock: lock, Guard: guard, Backend: backend, TTL: ttl, Keys: load.Keys, Rate: load.Rate, Limit: load.Limit, Tape: true,
	}
	if len(kinds) == 0 {
		return cfg, nil
	}
	cfg.Workload, cfg.Faults, cfg.Nemesis = workloads.UnderFaults{Workload: cfg.Workload, Kinds: kinds}, true, kinds
	// No lease keeps a client that is stopped from believing in it.
	cfg.Want = checker.Expectation{checker.StrictExclusion: checker.NotApplicable}
	for _, k := range kinds {
		cfg.Replicas, cfg.Sentinels = max(cfg.Replicas, k.Replicas), max(cfg.Sentinels, k.Sentinels)
	}
	cfg.Title = "random load under random faults: " + strings.Join(load.Nemesis, ", ")
	return cfg, nil
}

func (c Config) withDefaults() (Config, error) {
	if c.Backend == "" {
		c.Backend = Embedded
	}
	if c.Key == "" {
		c.Key = DefaultKey
	}
	if !slices.Contains(Backends(), c.Backend) {
		return c, fmt.Errorf("no backend %q, want one of %v", c.Backend, Backends())
	}
	if err := c.canEmploy(); err != nil {
		return c, err
	}
	if c.TTL <= 0 {
		return c, fmt.Errorf("TTL is %v, want more than 0", c.TTL)
	}
	return c, nil
}

// keys are the names of the keys: Key, or if there are several Key/1, Key/2 and so on.
func (c Config) keys() []string {
	if c.Keys <= 1 {
		return []string{c.Key}
	}
	var keys []string
	for i := range c.Keys {
		keys = append(keys, fmt.Sprintf("%s/%d", c.Key, i+1))
	}
	return keys
}

func (c Config) topology() cluster.Topology {
	return cluster.Topology{Masters: c.Lock.Masters, Replicas: max(c.Replicas, c.Lock.Replicas), Sentinels: c.Sentinels, ClusterMode: c.ClusterMode}
}

// slack is how much longer than its TTL, and than what the lock says of itself
// (locks.Promises.Tolerance), a free lock may stay taken: what clients take to notice.
func (c Config) slack() time.Duration { return c.TTL/4 + 50*time.Millisecond }
