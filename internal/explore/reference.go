package explore

import (
	"context"
	"slices"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/locks"
)

// Profiles keep what references break, so that explorations that come one after another measure it once. They are not safe for
// concurrent use. The zero value is empty.
type Profiles struct{ of map[string]*profile }

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
// What lasts is also looked for in the usual program, and so is all that happens on real servers, where calls overlap in other ways than in
// virtual time. A deviation may hit a lock that does more where it does not hit another. So what
// locks break under it that promise less, and keep in fair weather, is no fault of a lock that promises more, either. Where no other
// lock can play the program, what they break under the act in the usual one is no fault of the lock.
func (e *explorer) measure(ctx context.Context, property checker.Property, p Program, ds []Deviation) (keptBy []string, sharedBy string) {
	steps := locks.Steps{Failover: p.Replicas > 0}
	for _, d := range ds {
		steps.Failover = steps.Failover || d.Act.replicas > 0
		steps.Resent = steps.Resent || d.Act.action != ""
	}
	groups := locks.References(e.lock, e.Stranger, steps, e.Among)
	for _, group := range groups {
		peers := len(keptBy) == 0 // of the first group that can play the program
		for _, ref := range group {
			fails, err := e.fails(ctx, ref, p, kinds(ds, p.kindOf), p.kindOf)
			if err == nil && (lasts(ds) || len(ds) > 0 && e.Servers != nil) && !slices.Contains(fails, property) {
				fails, err = e.fails(ctx, ref, e.usual, kinds(ds, p.kindOf), e.usual.kindOf) // whether it hits at the right moment is not to be left to chance
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
	if len(ds) > 0 && len(keptBy) == 0 {
		return nil, e.elsewhere(ctx, property, slices.Concat(groups...), ds)
	}
	return keptBy, ""
}

// elsewhere returns one of some locks that breaks a property under acts in the usual program; empty: none does.
func (e *explorer) elsewhere(ctx context.Context, property checker.Property, refs []locks.Spec, ds []Deviation) (name string) {
	for _, ref := range refs {
		if fails, err := e.fails(ctx, ref, e.usual, kinds(ds, actOf), actOf); err == nil && slices.Contains(fails, property) {
			return ref.Name
		}
	}
	return ""
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

// fails are the properties that a reference breaks in a program in fair weather, and under deviations of these kinds, as kindOf tells
// them.
func (e *explorer) fails(ctx context.Context, ref locks.Spec, p Program, kinds []string, kindOf func(Deviation) string) ([]checker.Property, error) {
	name := ref.Name + " " + p.Name + " " + e.Guard.String()
	of := e.Profiles.of[name]
	if of == nil {
		of = &profile{fails: map[string][]checker.Property{}}
		of.fair, of.err = e.run(ctx, p, ref)
		of.fails[""] = of.fair.Fails
		if ctx.Err() != nil {
			return of.fair.Fails, of.err
		}
		e.Profiles.of[name] = of
	}
	kind := joined(kinds)
	if fails, known := of.fails[kind]; known || of.err != nil {
		return fails, of.err
	}
	same := p.alike(of.fair.Points, ref.Masters, kinds, kindOf)
	outcomes := make([]Outcome, len(same))
	e.each(ctx, len(same), func(i int) { outcomes[i], _ = e.run(ctx, p.with(same[i]...), ref) })
	fails := slices.Clone(of.fair.Fails)
	for _, o := range outcomes {
		fails = append(fails, o.Fails...)
	}
	if ctx.Err() == nil {
		of.fails[kind] = fails
	}
	return fails, nil
}
