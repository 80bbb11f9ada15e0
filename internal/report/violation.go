package report

import (
	"slices"

	"github.com/lockbench/lockbench/checker"
)

// A Violation is what the same events of a run prove: that one property is violated, or several.
type Violation struct {
	Results []checker.Result
	Witness []int // the events, in order and each once
}

// Violations are those of a run that name their events, in the order in which their first properties were judged.
func Violations(results []checker.Result) []Violation {
	var all []Violation
	for _, res := range Proven(results) {
		witness := slices.Compact(slices.Sorted(slices.Values(res.Witness)))
		at := slices.IndexFunc(all, func(v Violation) bool { return slices.Equal(v.Witness, witness) })
		if at < 0 {
			at = len(all)
			all = append(all, Violation{Witness: witness})
		}
		all[at].Results = append(all[at].Results, res)
	}
	return all
}

// Proven are the results of properties that are violated by events that they name, in their order.
func Proven(results []checker.Result) []checker.Result {
	var all []checker.Result
	for _, res := range results {
		if res.Verdict == checker.Fail && len(res.Witness) > 0 {
			all = append(all, res)
		}
	}
	return all
}
