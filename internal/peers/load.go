package peers

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/resource"
	"github.com/lockbench/lockbench/locks"
	"github.com/lockbench/lockbench/nemesis"
)

// Load is random load by which locks are measured. Faults strike at random instants, and which
// step of a lock they meet depends on how many it takes. So the same seed is not the same blow to
// another lock, and a reference is played with several: those from the run's own on. It breaks
// what it breaks with any of them.
//
// References are played in virtual time, each with a seed once. A Load may be used by several
// goroutines.
type Load struct {
	harness.Load
	Guard resource.Guard
	TTL   time.Duration
	// Locks are those among which references are looked for. Optional: locks.All.
	Locks locks.Catalogue
	// Seeds is with how many seeds a reference is played at most. Optional: 5 without faults, 20
	// with faults of clients, and 100 with those of servers, of which several must often come
	// together. Of loads that draw what clients do: 200 for all references together.
	Seeds int
	// Version is that of lockbench.
	Version string

	mu   sync.Mutex
	runs map[run]*played
}

// run is a reference under the load with one seed.
type run struct {
	lock string
	seed uint64
	like uint64 // whose draw the load is played by; see workloads.Load
}

type played struct {
	once     sync.Once
	verdicts Verdicts
}

// usualSeeds is Load.Seeds if nobody says otherwise.
func usualSeeds(faults []nemesis.Kind) int {
	switch {
	case len(faults) == 0:
		return 5
	case slices.ContainsFunc(faults, func(k nemesis.Kind) bool { return !k.Client }):
		return 100
	}
	return 20
}

// longest is how many TTLs, or rounds without faults, a reference is put under load for, however
// long the user's lock was.
const (
	longest    = 20
	mostRounds = 100
)

// Measure says of each property that a run of cfg broke, and was not expected to break, whether
// that is the lock's own fault. Causes are what is known of why. A lock without references is asked for everything.
func (l *Load) Measure(ctx context.Context, cfg harness.Config, judged []checker.Judged, causes []checker.Cause) (checker.Peers, error) {
	var broken []checker.Property
	for _, j := range judged {
		if j.Got == checker.Fail && !j.Met {
			broken = append(broken, j.Property)
		}
	}
	all := l.Locks
	if all == nil {
		all = locks.All()
	}
	stranger := cfg.Lock.New == nil // it is known to its worker alone
	groups := cfg.Lock.References(stranger, locks.Steps{
		Failover: cfg.Replicas > 0,
		Resent:   slices.ContainsFunc(cfg.Nemesis, func(k nemesis.Kind) bool { return k.Resends }),
	}, all)
	if drawn(cfg) {
		return l.measureAlike(ctx, cfg, broken, causes, groups)
	}
	seeds := l.Seeds
	if seeds == 0 {
		seeds = usualSeeds(cfg.Nemesis)
	}
	first, open := run{seed: cfg.Seed}, slices.Clone(broken) // that no reference was seen to keep
	refs := Play(groups, func(ref locks.Spec) Verdicts {
		if len(open) == 0 {
			return nil // what the others keep changes nothing
		}
		v := l.worst(ctx, ref, first, seeds, open)
		open = slices.DeleteFunc(open, func(p checker.Property) bool { return v[p] == checker.Pass })
		return v
	})
	p := checker.Peers{Class: cfg.Lock.Class().String(), References: namesOf(refs), Seed: cfg.Seed, Seeds: seeds}
	if err := ctx.Err(); err != nil {
		return p, err
	}
	for _, property := range broken {
		keptBy, unavoidable := Measure(property, checker.Fail, refs)
		if unavoidable {
			p.Unavoidable = append(p.Unavoidable, property)
		} else {
			p.Own = append(p.Own, checker.OwnFault{Property: property, KeptBy: keptBy})
		}
	}
	return p, nil
}

// worst is what a lock came to with any of several seeds: Fail if it broke a property with one of
// them, the first being that of a run, or else Pass if it kept it with one. It is over as soon as all that is looked for is broken.
func (l *Load) worst(ctx context.Context, ref locks.Spec, first run, seeds int, broken []checker.Property) Verdicts {
	var mu sync.Mutex
	var worst Verdicts
	left := func() bool { // whether something is still to be looked for
		mu.Lock()
		defer mu.Unlock()
		return slices.ContainsFunc(broken, func(p checker.Property) bool { return worst[p] != checker.Fail })
	}
	var group sync.WaitGroup
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	for seed := first.seed; seed < first.seed+uint64(seeds) && ctx.Err() == nil; seed++ {
		slots <- struct{}{}
		if !left() {
			break
		}
		group.Go(func() {
			defer func() { <-slots }()
			verdicts := l.verdicts(ctx, run{ref.Name, seed, first.like}, ref)
			mu.Lock()
			defer mu.Unlock()
			worst = worst.worse(verdicts, broken)
		})
	}
	group.Wait()
	return worst
}

// worse are the worse of two verdicts on each property: what is not known changes nothing.
func (v Verdicts) worse(other Verdicts, of []checker.Property) Verdicts {
	if v == nil && other != nil {
		v = Verdicts{}
	}
	for _, p := range of {
		if got := other[p]; got == checker.Fail || got == checker.Pass && v[p] != checker.Fail {
			v[p] = got
		}
	}
	return v
}

func (l *Load) verdicts(ctx context.Context, of run, ref locks.Spec) Verdicts {
	l.mu.Lock()
	if l.runs == nil {
		l.runs = make(map[run]*played)
	}
	r := l.runs[of]
	if r == nil {
		r = new(played)
		l.runs[of] = r
	}
	l.mu.Unlock()
	r.once.Do(func() { r.verdicts = l.play(ctx, ref, of) })
	return r.verdicts
}

func (l *Load) play(ctx context.Context, ref locks.Spec, of run) Verdicts {
	load := l.Load
	load.Like = of.like
	load.Nemesis = virtual(load.Nemesis)
	if load.Rounds > mostRounds {
		load.Rounds, load.Limit = 0, longest*l.TTL
	}
	load.Limit = min(load.Limit, longest*l.TTL)
	cfg, err := harness.ForWorkload(load, ref, l.Guard, harness.Embedded(), l.TTL)
	if err != nil {
		return nil // the load or the guard is not for this lock
	}
	cfg.Seed, cfg.Version, cfg.NoCauses = of.seed, l.Version, true
	res, err := harness.Run(ctx, cfg)
	if err != nil {
		return nil
	}
	return Of(res.Report)
}

// virtual are faults as there are in virtual time.
func virtual(names []string) []string {
	kinds, _ := nemesis.Find(names) // those of a run are known
	var all []string
	for _, k := range kinds {
		name := k.Name
		if k.Virtual != "" {
			name = k.Virtual
		}
		if !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}
