package peers

import (
	"context"
	"slices"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/player"
	"github.com/lockbench/lockbench/locks"
	"github.com/lockbench/lockbench/nemesis"
)

// A load that draws what its clients do (player.Drawn) brings about much that is rare. What a sound lock breaks once in
// hundreds of runs must not be held against it because its references did not in a hundred. So the run is played again
// with further seeds that do the same: what the lock breaks in too few of them is not measured, and of the rest the references are played
// often enough to break it, too, if it is no fault of the lock. Then one that does is enough.
//
// Three sightings were too few: at worst, of a weakness that shows in one run of 77, a sound lock is accused once in 900 times that it is
// measured. With six it is once in 350,000, of one that shows in one run of 39.
const (
	// sightings is in how many further runs, of mostAgain, a lock must break what is measured.
	sightings = 6
	mostAgain = 40
	// alike is how many runs of all references together it takes: of a weakness that is seen so often, they show thirty.
	alike = 200
)

// drawn reports whether the load draws, once a run, what its clients do.
func drawn(cfg harness.Config) bool {
	_, is := cfg.Workload.(player.Drawn)
	return is
}

// measureAlike measures what a run broke of which the seed drew what its clients do.
func (l *Load) measureAlike(ctx context.Context, cfg harness.Config, broken []checker.Property, causes []checker.Cause, groups [][]locks.Spec) (checker.Peers, error) {
	often := broken
	if cfg.Backend.Virtual() { // elsewhere it would take minutes
		often = l.oftenBroken(ctx, cfg, broken)
	}
	first := run{seed: cfg.Seed, like: cfg.Seed}
	seeds := l.Seeds
	if seeds == 0 && len(groups) > 0 {
		seeds = (alike + len(groups[0]) - 1) / len(groups[0])
	}
	open := slices.Clone(often)
	refs := Play(groups, func(ref locks.Spec) Verdicts {
		if len(open) == 0 {
			return nil // what the others break changes nothing
		}
		v := l.worst(ctx, ref, first, seeds, open)
		open = slices.DeleteFunc(open, func(p checker.Property) bool { return v[p] == checker.Fail })
		return v
	})
	p := checker.Peers{Class: cfg.Lock.Class().String(), References: namesOf(refs), Seed: cfg.Seed, Seeds: max(seeds, 1), Alike: true}
	for _, property := range broken {
		breaks := func(ref Reference) bool { return ref.Verdicts[property] == checker.Fail }
		switch {
		case !slices.Contains(often, property):
			p.Rare = append(p.Rare, property)
		case slices.ContainsFunc(refs, breaks):
			p.Unavoidable = append(p.Unavoidable, property)
		case takesKeys(cfg) && !byLock(property, causes):
			p.Faulted = append(p.Faulted, property)
		default:
			keptBy, _ := Measure(property, checker.Fail, refs)
			p.Own = append(p.Own, checker.OwnFault{Property: property, KeptBy: keptBy})
		}
	}
	return p, ctx.Err()
}

// takesKeys reports whether a fault of the run may take keys away from a server, so that whose leases last longest loses most.
// A failover is none to a lock that promises to outlive it.
func takesKeys(cfg harness.Config) bool {
	promised := cfg.Lock.Class().Failover
	return slices.ContainsFunc(cfg.Nemesis, func(k nemesis.Kind) bool {
		return !k.Client && !k.Spares && (k.Replicas == 0 || !promised)
	})
}

// byLock reports whether a command or an answer of the lock is known that explains why a property was broken.
func byLock(p checker.Property, causes []checker.Cause) bool {
	return slices.ContainsFunc(causes, func(c checker.Cause) bool {
		switch c.Kind {
		case checker.Seen, checker.ServerForgot, checker.LeaseOutlived:
			return false
		}
		return slices.Contains(c.Properties, p)
	})
}

// oftenBroken are those of the properties that the lock breaks again and again when other seeds draw the same.
func (l *Load) oftenBroken(ctx context.Context, cfg harness.Config, broken []checker.Property) (often []checker.Property) {
	seen := map[checker.Property]int{}
	for seed := cfg.Seed + 1; seed <= cfg.Seed+mostAgain && len(often) < len(broken) && ctx.Err() == nil; seed++ {
		verdicts := l.play(ctx, cfg.Lock, run{cfg.Lock.Name, seed, cfg.Seed})
		for _, p := range broken {
			if verdicts[p] != checker.Fail {
				continue
			}
			if seen[p]++; seen[p] == sightings {
				often = append(often, p)
			}
		}
	}
	return often
}

func namesOf(refs []Reference) []string {
	names := []string{}
	for _, ref := range refs {
		names = append(names, ref.Name)
	}
	return names
}
