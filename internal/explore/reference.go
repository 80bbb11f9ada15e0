package explore

import (
	"context"
	"math/rand/v2"
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
	err   error               // it cannot play the program
	kinds map[string]*outlook // of deviations, that were looked at
}

// outlook is what a reference breaks under deviations of a kind, as far as they were played.
type outlook struct {
	fails []checker.Property
	left  [][]Deviation // that were not played: whoever asks found what he asked for
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
	groups := e.lock.References(e.Stranger, steps, e.Among)
	for _, group := range groups {
		peers := len(keptBy) == 0 // of the first group that can play the program
		for _, ref := range group {
			broken, err := e.breaks(ctx, property, ref, p, kinds(ds, p.kindOf), p.kindOf, ds)
			if err == nil && (lasts(ds) || len(ds) > 0 && e.Servers != nil) && !broken {
				broken, err = e.breaks(ctx, property, ref, e.usual, kinds(ds, p.kindOf), e.usual.kindOf, ds) // whether it hits at the right moment is not to be left to chance
			}
			switch {
			case ctx.Err() != nil:
				return nil, ""
			case err != nil: // it cannot play the program
			case broken:
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
		if broken, err := e.breaks(ctx, property, ref, e.usual, kinds(ds, actOf), actOf, ds); err == nil && broken {
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

// breaks reports whether a reference breaks a property in a program in fair weather, or under deviations of these kinds, as kindOf tells
// them. It plays no more of them than it takes to see that, and those that are like ds first.
func (e *explorer) breaks(ctx context.Context, property checker.Property, ref locks.Spec, p Program, kinds []string, kindOf func(Deviation) string, ds []Deviation) (bool, error) {
	name := ref.Name + " " + p.Name + " " + e.Guard.String()
	of := e.Profiles.of[name]
	if of == nil {
		of = &profile{kinds: map[string]*outlook{}}
		of.fair, of.err = e.run(ctx, p, ref)
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		e.Profiles.of[name] = of
	}
	if of.err != nil || slices.Contains(of.fair.Fails, property) || len(kinds) == 0 {
		return slices.Contains(of.fair.Fails, property), of.err
	}
	kind := joined(kinds)
	seen := of.kinds[kind]
	if seen == nil {
		seen = &outlook{left: p.alike(of.fair.Points, ref, kinds, kindOf)}
		rng := rand.New(rand.NewPCG(0, 0)) // neighbours are much alike
		rng.Shuffle(len(seen.left), func(i, j int) { seen.left[i], seen.left[j] = seen.left[j], seen.left[i] })
		of.kinds[kind] = seen
	}
	if i := slices.IndexFunc(seen.left, func(same []Deviation) bool { return slices.EqualFunc(same, ds, Deviation.same) }); i > 0 {
		seen.left[0], seen.left[i] = seen.left[i], seen.left[0]
	}
	for n := max(e.Jobs, 1); len(seen.left) > 0 && !slices.Contains(seen.fails, property); n *= 2 {
		next := seen.left[:min(len(seen.left), n)]
		fails := make([][]checker.Property, len(next))
		e.each(ctx, len(next), func(i int) {
			o, _ := e.run(ctx, p.with(next[i]...), ref)
			fails[i] = o.Fails
		})
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		for _, property := range slices.Concat(fails...) {
			if !slices.Contains(seen.fails, property) {
				seen.fails = append(seen.fails, property)
			}
		}
		if seen.left = seen.left[len(next):]; len(seen.left) == 0 {
			seen.left = nil // and let go of the whole array
		}
	}
	return slices.Contains(seen.fails, property), nil
}
