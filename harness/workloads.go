package harness

import (
	"strings"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/resource"
	"github.com/lockbench/lockbench/locks"
	"github.com/lockbench/lockbench/nemesis"
	"github.com/lockbench/lockbench/workloads"
)

// Workloads lists the random workloads, the default first.
func Workloads() []string {
	var names []string
	for _, k := range workloads.Kinds() {
		names = append(names, k.Name)
	}
	return names
}

// WorkloadTitle says in a line what a random workload does.
func WorkloadTitle(name string) string {
	k, _ := workloads.Find(name) // of an unknown one there is nothing to say
	return k.Title
}

// DefaultLock is the lock that a random workload is run with if none is asked for.
func DefaultLock(workload string) (string, error) {
	k, err := workloads.Find(workload)
	return k.Lock, err
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
// time and 1 s on real servers. An unknown workload or fault is a *catalogue.UnknownError.
func ForWorkload(load Load, lock locks.Spec, guard resource.Guard, backend Backend, ttl time.Duration) (Config, error) {
	backend = backend.orDefault()
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
	for _, k := range kinds {
		if err := k.Needs(backend.Type); err != nil {
			return Config{}, &NeedsError{Nemesis: k.Name, Backend: backend.Name, Why: err}
		}
	}
	cfg := Config{
		Test:       Test{Name: kind.Name, Lock: lock, Guard: guard, Keys: load.Keys, Rate: load.Rate},
		Deployment: Deployment{Backend: backend},
		Output:     Output{Title: "random load without faults", Tape: true},
	}
	if cfg.TTL, err = cfg.Lease(ttl, 3*time.Second, time.Second); err != nil {
		return Config{}, err
	}
	switch {
	case load.Rounds > 0 || load.Limit > 0:
	case len(kinds) > 0:
		load.Limit = 20 * cfg.TTL
	default:
		load.Rounds = 20
	}
	size := workloads.Load{N: load.Clients, Rounds: load.Rounds, Limit: load.Limit, Rate: load.Rate}
	if len(kinds) > 0 {
		size.Section = cfg.TTL / 4 // long enough for faults to find holders
	}
	cfg.Workload, cfg.Limit = kind.New(size), load.Limit
	if len(kinds) == 0 {
		return cfg, cfg.suits()
	}
	cfg.Workload, cfg.Faults, cfg.Nemesis = workloads.UnderFaults{Workload: cfg.Workload, Kinds: kinds}, true, kinds
	// No lease keeps a client that is stopped from believing in it.
	cfg.Want = checker.Expectation{checker.StrictExclusion: checker.NotApplicable}
	for _, k := range kinds {
		cfg.Replicas, cfg.Sentinels = max(cfg.Replicas, k.Replicas), max(cfg.Sentinels, k.Sentinels)
	}
	cfg.Title = "random load under random faults: " + strings.Join(load.Nemesis, ", ")
	return cfg, cfg.suits()
}
