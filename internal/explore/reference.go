package explore

import (
	"context"
	"slices"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/locks"
)

// profile is what a reference breaks in a program.
type profile struct {
	fair  Outcome
	err   error                         // it cannot play the program
	fails map[string][]checker.Property // by kind of deviation, of those that were looked at
}

// measure says whose fault it is that a lock breaks a property in a program under a deviation. The lock is measured by the locks of
// its class that promise no more than it does (locks.References): what one of them breaks under a deviation of the same kind, at
// whatever command, is a weakness of the class. keptBy are all of them if none does; there may be none.
//
// What lasts is also looked for in the usual program. A deviation may hit a lock that does more where it does not hit another. So what
// locks break under it that promise less, and keep in fair weather, is no fault of a lock that promises more, either.
func (e *explorer) measure(ctx context.Context, property checker.Property, p Program, ds []Deviation) (keptBy []string, sharedBy string) {
	steps := locks.Steps{Failover: p.Replicas > 0}
	for _, d := range ds {
		steps.Failover = steps.Failover || d.Act.replicas > 0
		steps.Resent = steps.Resent || d.Act.action != ""
	}
	for _, group := range locks.References(e.lock, e.Stranger, steps, e.Among) {
		peers := len(keptBy) == 0 // of the first group that can play the program
		for _, ref := range group {
			fails, err := e.fails(ctx, ref, p, ds)
			if err == nil && len(ds) > 0 && ds[0].Act.lasts && !slices.Contains(fails, property) {
				fails, err = e.fails(ctx, ref, e.usual, ds) // whether it hits at the right moment is not to be left to chance
			}
			switch {
			case ctx.Err() != nil:
				return nil, ""
			case err != nil: // it cannot play the program
			case slices.Contains(fails, property):
				return nil, ref.Name
			case peers:
				keptBy = append(keptBy, ref.Name)
			}
		}
		if len(ds) == 0 && len(keptBy) > 0 {
			break
		}
	}
	return keptBy, ""
}

// follows are the properties that are broken whenever another one is that made it possible: an update gets lost as two clients are in
// their sections at once, and they are as one was let in while the other's lease ran.
func follows(property checker.Property) []checker.Property {
	switch property {
	case checker.ResourceSafety:
		return []checker.Property{checker.StrictExclusion, checker.LeaseExclusion}
	case checker.StrictExclusion:
		return []checker.Property{checker.LeaseExclusion}
	}
	return nil
}

// fails are the properties that a reference breaks in a program, in fair weather or under a deviation of the kind of the one that is
// given.
func (e *explorer) fails(ctx context.Context, ref locks.Spec, p Program, ds []Deviation) ([]checker.Property, error) {
	name := ref.Name + " " + p.Name
	of := e.profiles[name]
	if of == nil {
		of = &profile{fails: map[string][]checker.Property{}}
		of.fair, of.err = e.run(ctx, p, ref)
		of.fails[""] = of.fair.Fails
		e.profiles[name] = of
	}
	kind := p.kind(ds)
	if fails, known := of.fails[kind]; known || of.err != nil {
		return fails, of.err
	}
	var same [][]Deviation
	for _, at := range of.fair.Points {
		for _, d := range At(at, ref.Masters) {
			if one := []Deviation{d}; p.kind(one) == kind {
				same = append(same, one)
			}
		}
	}
	outcomes := make([]Outcome, len(same))
	e.each(ctx, len(same), func(i int) { outcomes[i], _ = e.run(ctx, p.with(same[i]...), ref) })
	fails := slices.Clone(of.fair.Fails)
	for _, o := range outcomes {
		fails = append(fails, o.Fails...)
	}
	of.fails[kind] = fails
	return fails, nil
}
