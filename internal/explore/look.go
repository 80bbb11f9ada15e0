package explore

import (
	"context"
	"slices"

	"github.com/lockbench/lockbench/checker"
)

// look takes what a schedule came to for what it is. One that is not mine is of another shard: what it breaks is nothing new under more
// deviations, and it is not counted.
func (e *explorer) look(ctx context.Context, p Program, rank uint64, ds []Deviation, out Outcome, mine bool) {
	e.looking.Lock()
	defer e.looking.Unlock()
	n := 0
	if mine {
		n = 1
		e.found.tally(p, ds, out)
	}
	certain, fails := e.secondLook(ctx, p, ds), out.Fails
	f := Finding{Program: p, Rank: rank, Deviations: ds, Seen: n}
	fails = slices.SortedStableFunc(slices.Values(fails), func(a, b checker.Property) int { return len(follows(a)) - len(follows(b)) })
	for _, property := range fails {
		if at, known := e.knownOf(property, p, ds); known {
			if e.found.Findings[at].Broken[0] == property {
				e.found.Findings[at].Seen += n
			}
			continue
		}
		kind := p.kind(ds)
		shared := func(of checker.Property) bool { return slices.Contains(fails, of) && e.isExcused(of, p, ds) }
		if slices.ContainsFunc(follows(property), shared) || len(ds) > 1 && e.isExcused(property, p, ds) {
			continue
		}
		keptBy, sharedBy := e.whose(ctx, property, p, ds)
		sure := true
		if sharedBy == "" && e.Servers != nil {
			sure, sharedBy = certain(property, keptBy)
		}
		if ctx.Err() != nil {
			break // what was measured before counts
		}
		t := trait{property, kind}
		switch {
		case !sure: // it is among what came out in two ways
		case sharedBy == "" && len(keptBy) == 0 && len(ds) > 0:
			e.found.Unmeasured++ // what can be kept under a fault is not known
		case sharedBy == "":
			f.Broken, f.KeptBy = append(f.Broken, property), keptBy
			e.accuse(property, f)
		case !e.excused[t]:
			e.excused[t] = true
			e.found.Weaknesses = append(e.found.Weaknesses, Weakness{property, kind, columnOf(p, ds), sharedBy})
		}
	}
	if len(f.Broken) > 0 {
		e.found.Findings = append(e.found.Findings, f)
		if e.Found != nil {
			e.Found(f)
		}
	}
}

// accuse notes that the next finding is one of a property.
func (e *explorer) accuse(property checker.Property, f Finding) {
	e.accused[trait{property, f.Program.apart(f.Deviations)}] = len(e.found.Findings)
}

// knownOf returns the finding that has shown already that the lock breaks a property in fair weather, under deviations of the
// kind, or under some of the deviations.
func (e *explorer) knownOf(property checker.Property, p Program, ds []Deviation) (at int, known bool) {
	for _, under := range []string{"", p.apart(ds)} {
		if at, known = e.accused[trait{property, under}]; known {
			return at, true
		}
	}
	for _, part := range parts(ds) {
		if at, known = e.knownOf(property, p, part); known {
			return at, true
		}
	}
	return 0, false
}

// isExcused reports whether a property is known to be a weakness of the class under the kind of deviations, or of some of them.
func (e *explorer) isExcused(property checker.Property, p Program, ds []Deviation) bool {
	return e.excused[trait{property, p.kind(ds)}] || slices.ContainsFunc(parts(ds), func(part []Deviation) bool { return e.isExcused(property, p, part) })
}

// whose measures a property under deviations: what is a weakness of the class under some of them is one under all.
func (e *explorer) whose(ctx context.Context, property checker.Property, p Program, ds []Deviation) (keptBy []string, sharedBy string) {
	for _, part := range parts(ds) {
		if _, sharedBy = e.whose(ctx, property, p, part); sharedBy != "" {
			return nil, sharedBy
		}
	}
	return e.measure(ctx, property, p, ds)
}

// settled are the findings without what turned out to be a weakness of the class in another program.
func (e *explorer) settled() []Finding {
	return without(e.found.Findings, func(p checker.Property, f Finding) bool {
		return lasts(f.Deviations) && e.excused[trait{p, f.Program.kind(f.Deviations)}]
	})
}

// Places are findings without what an earlier one of them has shown at the same command: what breaks a lock there in one way breaks it
// in others, too.
func Places(all []Finding) []Finding {
	shown := map[trait]bool{}
	return without(all, func(p checker.Property, f Finding) bool {
		at := trait{p, f.Program.site(f.Deviations)}
		before := shown[at]
		shown[at] = true
		return before
	})
}

// without are findings without the properties that are to be left out, and without those that have no other.
func without(all []Finding, leave func(checker.Property, Finding) bool) (left []Finding) {
	for _, f := range all {
		f.Broken = slices.DeleteFunc(slices.Clone(f.Broken), func(p checker.Property) bool { return leave(p, f) })
		if len(f.Broken) > 0 {
			left = append(left, f)
		}
	}
	return left
}
