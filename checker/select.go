package checker

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockbench/lockbench/internal/words"
)

// Properties returns every property that a history can be judged by.
func Properties() []Property {
	var all []Property
	for _, s := range allSpecs() {
		all = append(all, s.property)
	}
	return append(all, Linearizability)
}

// Only returns the report on some properties alone, without the harness errors of the others.
// A property that the history has nothing to do with does not apply.
func (r Report) Only(properties ...Property) Report {
	results := make([]Result, 0, len(properties))
	var verdicts []Verdict
	for _, p := range properties {
		res := Result{Property: p, Verdict: NotApplicable, Story: "The history has nothing to do with it."}
		if i := slices.IndexFunc(r.Results, func(res Result) bool { return res.Property == p }); i >= 0 {
			res = r.Results[i]
		}
		results, verdicts = append(results, res), append(verdicts, res.Verdict)
	}
	r.HarnessErrors = slices.DeleteFunc(slices.Clone(r.HarnessErrors), func(e string) bool {
		judge, _, _ := strings.Cut(e, ": ")
		return slices.Contains(Properties(), Property(judge)) && !slices.Contains(properties, Property(judge))
	})
	r.Results, r.Verdict = results, NotApplicable.Merge(verdicts...)
	return r
}

// WithGaps returns the report on a history of which events are missing: gaps are the indexes
// before which they were, the number of all events for what is missing behind the last one, and
// Anywhere for what may have been at any time.
// Nothing passes any more. A fail stands if only the end is missing, or if no gap lies within
// its witness and nothing before the witness could excuse it: so it is with exclusion and the
// resource. All else is Unknown.
func (r Report) WithGaps(gaps []int, events int) Report {
	if len(gaps) == 0 {
		return r
	}
	inner := inside(gaps, events)
	results := slices.Clone(r.Results)
	verdicts := make([]Verdict, 0, len(results))
	for i := range results {
		res := &results[i]
		if res.Verdict == Pass || res.Verdict == Fail && len(inner) > 0 && !res.stands(inner) {
			res.downgrade(gaps)
		}
		verdicts = append(verdicts, results[i].Verdict)
	}
	r.Results, r.Verdict = results, NotApplicable.Merge(verdicts...)
	return r
}

// inside are the gaps that are not behind the last event.
func inside(gaps []int, events int) []int {
	return slices.DeleteFunc(slices.Clone(gaps), func(g int) bool { return g >= events })
}

// downgrade makes a verdict Unknown.
func (r *Result) downgrade(gaps []int) {
	r.Verdict = Unknown
	r.Story = paragraph(fmt.Sprintf("Not certain, as lines were skipped in %s.", words.Count(len(gaps), "place")), r.Story)
}

// stands reports whether a fail is certain in spite of gaps.
func (r Result) stands(gaps []int) bool {
	if len(r.Witness) == 0 || !slices.Contains([]Property{StrictExclusion, LeaseExclusion, ResourceSafety}, r.Property) {
		return false
	}
	first, last := slices.Min(r.Witness), slices.Max(r.Witness)
	return !gapped(gaps, first, last)
}

// Anywhere is a gap of which nobody knows where it is.
const Anywhere = -1

// gapped reports whether something may be missing behind the event first, up to the event last.
func gapped(gaps []int, first, last int) bool {
	return slices.ContainsFunc(gaps, func(g int) bool { return g == Anywhere || first < g && g <= last })
}
