package gate

import (
	"cmp"
	"slices"

	"github.com/lockbench/lockbench/scenarios"
)

// Again is an earlier gate, of which some runs are played again.
type Again struct {
	File string // that the earlier gate was read from
	Rows []Row  // that are played again, with their seeds
}

// Failed are the runs that did not come out as expected, save what the baseline knows.
func (r Results) Failed(known Baseline) []Row {
	var failed []Row
	for _, row := range r.Rows {
		if o := known.outcome(row); o == Unexpected || o == Unknown || o == Failed {
			failed = append(failed, row)
		}
	}
	return failed
}

// String tells a run from all others of its gate, and what of it was not as expected.
func (r Row) String() string {
	text := r.ID + " " + r.key()
	if why := what(r); why != "" {
		text += ": " + why
	}
	return text
}

// has reports whether a run of a case of a scenario is to be played again.
func (a *Again) has(scenario string) bool {
	return slices.ContainsFunc(a.Rows, func(r Row) bool { return r.Scenario == scenario })
}

// some are the scenarios of which runs are played again.
func (a *Again) some(all []scenarios.Scenario) []scenarios.Scenario {
	if a == nil {
		return all
	}
	return slices.DeleteFunc(slices.Clone(all), func(s scenarios.Scenario) bool { return !a.has(s.Name) })
}

// lost are the runs that were to be played again and are not planned.
func (a *Again) lost(planned []item) []Row {
	if a == nil {
		return nil
	}
	has := map[string]bool{}
	for _, it := range planned {
		has[it.row.key()] = true
	}
	return slices.DeleteFunc(slices.Clone(a.Rows), func(r Row) bool { return has[r.key()] })
}

// seeds are those of the runs of a case.
func (o Options) seeds(c Row) []uint64 {
	var seeds []uint64
	if o.Again == nil {
		for i := range o.Runs {
			seeds = append(seeds, o.Seed+uint64(i))
		}
		return seeds
	}
	for _, r := range o.Again.Rows {
		if r.Scenario == c.Scenario && r.who() == c.who() {
			seeds = append(seeds, r.Seed)
		}
	}
	return seeds
}

// Over is what is known after r, where before was known until then: each run counts as it came out last. A gate of everything
// that came to its end is all that is known.
func (r Results) Over(before Results) Results {
	everything := len(r.Only) == 0 && r.Again == ""
	if everything && r.Shard.Of == 1 && r.Whole() {
		return r
	}
	now := before
	if before.Schema == 0 || everything {
		now = r
	}
	now.Version, now.Server, now.FailOn, now.Error = r.Version, cmp.Or(r.Server, before.Server), r.FailOn, r.Error
	now.Shard, now.Again = Shard{1, 1}, ""
	if len(now.Only) > 0 && len(before.Only) > 0 {
		now.Only = unique(slices.Concat(before.Only, r.Only))
	}
	now.Exploring, now.Explored = r.Exploring, r.Explored
	if r.Exploring == 0 {
		now.Exploring, now.Explored = before.Exploring, before.Explored
	}
	now.Rows = latest(before.Rows, r.Rows, Row.key, func(r Row) string { return r.ID })
	now.Gaps = latest(before.Gaps, r.Gaps, func(g Gap) string { return g.Scenario + ", " + g.who() }, func(g Gap) string { return g.ID })
	for i := range now.Rows {
		now.Rows[i].At = i
	}
	now.Planned = max(now.Planned, len(now.Rows))
	now.Share = now.Planned
	return now
}

// latest are the elements of before and after in the order of their numbers. Of two with the same key that of after counts.
func latest[T any](before, after []T, key, number func(T) string) []T {
	all := append([]T{}, before...)
	at := map[string]int{}
	for i, v := range all {
		at[key(v)] = i
	}
	for _, v := range after {
		if i, ok := at[key(v)]; ok {
			all[i] = v
		} else {
			all = append(all, v)
		}
	}
	slices.SortStableFunc(all, func(a, b T) int { return scenarios.ByNumber(number(a), number(b)) })
	return all
}
