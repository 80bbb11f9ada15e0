package gate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/words"
	"github.com/lockbench/lockbench/scenarios"
)

// fault is one cause of what a lock's own runs found, and all runs that it explains.
type fault struct {
	cause      checker.Cause // of the first row
	rows       []Row         // in the order of the catalogue
	properties []checker.Property
}

// faults are the fewest causes that explain every run in which the user's lock broke something
// that the baseline does not know, the nearest cause first.
func (r Results) faults(known Baseline) []fault {
	var left []Row
	for _, row := range r.Rows {
		if row.Role == Own && known.outcome(row) == Unexpected {
			row.Judged = known.unknown(row)
			left = append(left, row)
		}
	}
	slices.SortStableFunc(left, func(a, b Row) int { return scenarios.ByNumber(a.ID, b.ID) })
	var all []fault
	for len(left) > 0 {
		next := widest(left)
		all = append(all, next)
		left = slices.DeleteFunc(left, func(row Row) bool { _, explained := row.by(kindOf(next.cause)); return explained })
	}
	slices.SortStableFunc(all, func(a, b fault) int {
		return cmp.Or(cmp.Compare(a.cause.Rank(), b.cause.Rank()), cmp.Compare(len(b.rows), len(a.rows)))
	})
	return all
}

// unknown are the findings of a row that the baseline does not know.
func (b Baseline) unknown(row Row) []Finding {
	return slices.DeleteFunc(row.Findings(), func(f Finding) bool { return slices.Contains(b.Findings, known(row, f)) })
}

// widest is the cause that explains most of the rows; of those that explain as many, the nearest.
func widest(rows []Row) fault {
	var best fault
	for _, row := range rows {
		for _, c := range row.nearest() {
			f := fault{cause: c}
			for _, other := range rows {
				if same, ok := other.by(kindOf(c)); ok {
					f.rows = append(f.rows, other)
					f.add(same.Properties)
				}
			}
			if n := len(f.rows) - len(best.rows); n > 0 || n == 0 && c.Rank() < best.cause.Rank() {
				best = f
			}
		}
	}
	return best
}

func (f *fault) add(properties []checker.Property) {
	for _, p := range properties {
		if !slices.Contains(f.properties, p) {
			f.properties = append(f.properties, p)
		}
	}
}

// kindOf is what causes have in common that are mended in the same way.
func kindOf(c checker.Cause) string {
	if !c.Derived() {
		return string(checker.Seen) + " " + string(c.Properties[0])
	}
	return string(c.Kind)
}

// by returns the cause of that sort among the nearest of a row.
func (r Row) by(kind string) (checker.Cause, bool) {
	for _, c := range r.nearest() {
		if kindOf(c) == kind {
			return c, true
		}
	}
	return checker.Cause{}, false
}

// nearest are the causes of what a row found that are nearest to what has to be mended: what
// broke after them may be their consequence. There is at least one.
func (r Row) nearest() []checker.Cause { return r.nearestOf(r.Findings()) }

func (r Row) nearestOf(found []Finding) []checker.Cause {
	found = slices.DeleteFunc(slices.Clone(found), func(f Finding) bool { return f.Got != checker.Fail })
	broke := func(p checker.Property) bool {
		return slices.ContainsFunc(found, func(f Finding) bool { return f.Property == p })
	}
	var all []checker.Cause
	for _, c := range r.Causes {
		c.Properties = slices.DeleteFunc(slices.Clone(c.Properties), func(p checker.Property) bool { return !broke(p) })
		if len(c.Properties) > 0 {
			all = append(all, c)
		}
	}
	for _, f := range found { // of a run whose causes are not known
		if !slices.ContainsFunc(all, func(c checker.Cause) bool { return slices.Contains(c.Properties, f.Property) }) {
			all = append(all, checker.Cause{Kind: checker.Seen, Properties: []checker.Property{f.Property}, Sentence: f.Story})
		}
	}
	slices.SortStableFunc(all, func(a, b checker.Cause) int { return cmp.Compare(a.Rank(), b.Rank()) })
	return slices.DeleteFunc(all, func(c checker.Cause) bool { return stage(c) > stage(all[0]) || c.Derived() != all[0].Derived() })
}

// stage is how far a cause is from what has to be mended: what a command did to whose key and
// what was said of it, whether the lock can be had, who held it beside whom, what became of the
// resource.
func stage(c checker.Cause) int {
	stages := [][]checker.Property{
		{checker.Ownership, checker.TruthfulReplies, checker.Reentrancy},
		{checker.DeadlockFreedom, checker.Availability, checker.Load, checker.Fairness},
		{checker.StrictExclusion, checker.LeaseExclusion, checker.LeaseHonoured, checker.Fencing},
	}
	for i, s := range stages {
		if slices.ContainsFunc(c.Properties, func(p checker.Property) bool { return slices.Contains(s, p) }) {
			return i
		}
	}
	return len(stages)
}

// sentence is the cause of a fault. One that is derived names its commands and events itself.
func (f fault) sentence() string {
	if f.cause.Derived() || len(f.cause.Events) == 0 {
		return f.cause.Sentence
	}
	var events []string
	for _, e := range f.cause.Events {
		events = append(events, fmt.Sprint(e))
	}
	return f.cause.Sentence + " [events " + strings.Join(events, ", ") + "]"
}

// scenarios names the scenarios that a fault explains, and if each was played several times, in
// how many seeds.
func (f fault) scenarios(runs int) []string {
	seeds := map[string]int{}
	for _, row := range f.rows {
		seeds[row.Scenario]++
	}
	var all []string
	for _, row := range f.rows {
		name := row.ID + " " + row.Scenario
		if runs > 1 {
			name += fmt.Sprintf(" (%d of %d seeds)", seeds[row.Scenario], runs)
		}
		all = append(all, name)
	}
	return unique(all)
}

// head is a red gate of a user's lock in one line: how many scenarios fail, the fewest causes
// that explain them, and the nearest of these.
func head(faults []fault) string {
	if len(faults) == 0 {
		return ""
	}
	var all []string
	for _, f := range faults {
		all = append(all, f.scenarios(1)...)
	}
	all = unique(all)
	causes := words.Count(len(faults), "cause")
	if len(faults) > 1 {
		causes += ", the nearest"
	}
	verb := "fail"
	if len(all) == 1 {
		verb = "fails"
	}
	return fmt.Sprintf("%s %s, %s: %s See %s.", words.Count(len(all), "scenario"), verb,
		causes, faults[0].sentence(), faults[0].rows[0].ID)
}
