package harness

import (
	"strings"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/player"
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
	Rounds   int           // of each client; 0 means 20, or as many as fit into Limit if there are faults or it is swarm
	Limit    time.Duration // if not 0, as many rounds as fit into it; 0 means 20 TTLs with faults, and 12 of swarm
	Rate     float64       // optional: rounds that begin per second, of all clients together
	Keys     int           // optional: how many keys clients choose from; 0 means 1
	Nemesis  []string      // kinds of random faults; none: no faults
	Like     uint64        // optional: see workloads.Load
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
	for _, unfit := range []error{kind.Unsupported(lock), guard.Supports(lock)} {
		if unfit != nil {
			return Config{}, &UnfitError{unfit}
		}
	}
	kinds, err := nemesis.Find(load.Nemesis)
	if err == nil {
		err = compatible(kinds)
	}
	if err != nil {
		return Config{}, err
	}
	for _, k := range kinds {
		if err := k.Unsupported(backend.Type); err != nil {
			return Config{}, &NeedsError{Nemesis: k.Name, Backend: backend.Name, Why: err}
		}
	}
	cfg := Config{
		Test:       Test{Name: kind.Name, Lock: lock, Guard: guard, Keys: load.Keys, Rate: load.Rate},
		Deployment: Deployment{Backend: backend},
		Output:     Output{Title: "random load without faults", CommandLog: true},
	}
	if cfg.TTL, err = cfg.Lease(ttl, 3*time.Second, time.Second); err != nil {
		return Config{}, err
	}
	load.lasts(kind, len(kinds) > 0, cfg.TTL)
	size := workloads.Load{N: load.Clients, Rounds: load.Rounds, Limit: load.Limit, Rate: load.Rate, Like: load.Like}
	if len(kinds) > 0 {
		size.Section = cfg.TTL / 4 // long enough for faults to find holders
	}
	cfg.Workload, cfg.Limit = kind.New(size), load.Limit
	cfg.Want = givenUp(cfg.Workload, lock, len(kinds) > 0)
	if len(kinds) == 0 {
		return cfg, cfg.suits()
	}
	cfg.Workload, cfg.Faults, cfg.Nemesis = player.Under(cfg.Workload, kinds), true, kinds
	for _, k := range kinds {
		cfg.Replicas, cfg.Sentinels = max(cfg.Replicas, k.Replicas), max(cfg.Sentinels, k.Sentinels)
	}
	cfg.Title = "random load under random faults: " + strings.Join(load.Nemesis, ", ")
	return cfg, cfg.suits()
}

// lasts says how long the load goes on if nobody else does.
func (l *Load) lasts(kind workloads.Kind, faults bool, ttl time.Duration) {
	switch {
	case l.Rounds > 0 || l.Limit > 0:
	case kind.Leases > 0:
		l.Limit = time.Duration(kind.Leases) * ttl
	case faults:
		l.Limit = 20 * ttl
	default:
		l.Rounds = 20
	}
}

// givenUp is what cannot be expected of any lock under a load: no lease keeps a client that is stopped, or that
// goes back to its lease when it is over, from believing in it.
func givenUp(w player.Workload, lock locks.Spec, faults bool) checker.Expectation {
	if _, drawn := w.(player.Drawn); drawn {
		faults = !lock.Class().Renews && !lock.Promises.NoLease
	}
	if !faults {
		return nil
	}
	return checker.Expectation{checker.StrictExclusion: checker.NotApplicable}
}
