// Package harness runs a workload against a lock on a backend: it brings the
// deployment up, lets the clients and the faults play, records the history, takes
// everything down and has the history judged. It is the one room that knows all others.
package harness

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/cluster"
	"github.com/lockbench/lockbench/cluster/external"
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
	Why      string // optional: why the lock breaks, told if it does
	Note     string // optional: what the run shows, told in any case
	Workload workloads.Workload
	Tape     bool           // what crosses the wire is kept
	Faults   bool           // the workload plans faults
	Nemesis  []nemesis.Kind // optional: random faults
	Lock     locks.Spec
	Guard    resource.Guard
	Backend  string  // optional: Embedded
	Servers  Servers // of backend External
	Replicas int     // optional: of the lock's first master
	Key      string  // optional: orders/42
	TTL      time.Duration
	Seed     uint64
	Want     checker.Expectation // optional: every property must pass or not apply
	// Survivors are the locks that keep, under the same steps, what this one breaks; for
	// the report.
	Survivors []scenarios.Case
	Out       string    // directory of runs; empty: nothing is kept
	Command   string    // optional: how to repeat the run
	Version   string    // optional: of lockbench
	Log       io.Writer // optional: what a backend warns of, and what takes long
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
	if err := guard.Supports(lock); err != nil {
		return Config{}, err
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
		Workload: s.Script, Tape: true, Faults: true,
		Lock: lock, Guard: guard, Backend: backend, Replicas: s.Replicas, TTL: ttl,
		Want: c.Want, Note: c.Note,
	}
	if !s.Names(lock.Name, guard) || !s.Saves(c) { // it may break as the broken lock does
		cfg.Why, cfg.Survivors = s.Why, s.Survivors()
	}
	return cfg, nil
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

// Contend is the one random workload: see workloads.Contend.
const Contend = "contend"

// Workloads lists the random workloads.
func Workloads() []string { return []string{Contend} }

// Load is random load on a lock.
type Load struct {
	Clients int
	Rounds  int           // of each client; 0 means 20, or with faults as many as fit into Limit
	Limit   time.Duration // if not 0, as many rounds as fit into it; with faults 0 means 20 TTLs
	Nemesis []string      // kinds of random faults; none: no faults
}

// ForContend returns the configuration of random load. A ttl of 0 means 3 s in virtual
// time and 1 s on real servers. An unknown fault is a *locks.UnknownError.
func ForContend(load Load, lock locks.Spec, guard resource.Guard, backend string, ttl time.Duration) (Config, error) {
	if err := guard.Supports(lock); err != nil {
		return Config{}, err
	}
	kinds, err := nemesis.Find(load.Nemesis)
	if err != nil {
		return Config{}, err
	}
	if err := canServe(lock, backend); err != nil {
		return Config{}, err
	}
	for _, k := range kinds {
		if backend != External {
			break // they say so when they run
		}
		if err := k.Needs((*external.Cluster)(nil)); err != nil {
			return Config{}, &NeedsError{Nemesis: k.Name, Backend: backend, Why: err}
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
	contend := workloads.Contend{N: load.Clients, Rounds: load.Rounds, Limit: load.Limit}
	if len(kinds) > 0 {
		contend.Section = ttl / 4 // long enough for faults to find holders
	}
	cfg := Config{
		Name: Contend, Title: "random load without faults", Workload: contend,
		Lock: lock, Guard: guard, Backend: backend, TTL: ttl,
	}
	if len(kinds) == 0 {
		return cfg, nil
	}
	cfg.Workload, cfg.Faults, cfg.Nemesis = workloads.UnderFaults{Workload: cfg.Workload, Kinds: kinds}, true, kinds
	// No lease keeps a client that is stopped from believing in it.
	cfg.Want = checker.Expectation{checker.StrictExclusion: checker.NotApplicable}
	if slices.ContainsFunc(kinds, func(k nemesis.Kind) bool { return k.Replica }) {
		cfg.Replicas = 1
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
	if c.TTL <= 0 {
		return c, fmt.Errorf("TTL is %v, want more than 0", c.TTL)
	}
	return c, nil
}

func (c Config) topology() cluster.Topology {
	return cluster.Topology{Masters: c.Lock.Masters, Replicas: max(c.Replicas, c.Lock.Replicas)}
}

// slack is how much longer than its TTL a free lock may stay taken.
func (c Config) slack() time.Duration { return c.TTL/4 + 50*time.Millisecond }
