package report_test

import (
	"slices"
	"testing"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/report"
)

// TestViolations: properties that the same events prove are one violation, in whatever order they name them.
func TestViolations(t *testing.T) {
	all := report.Violations([]checker.Result{
		{Property: checker.StrictExclusion, Verdict: checker.Fail, Witness: []int{3, 11}},
		{Property: checker.Fencing, Verdict: checker.Pass, Witness: []int{3, 11}},
		{Property: checker.Ownership, Verdict: checker.Fail, Witness: []int{5}},
		{Property: checker.LeaseHonoured, Verdict: checker.Fail, Witness: []int{11, 3, 3}},
		{Property: checker.Load, Verdict: checker.Fail},
	})
	var got [][]checker.Property
	for _, v := range all {
		var properties []checker.Property
		for _, res := range v.Results {
			properties = append(properties, res.Property)
		}
		got = append(got, properties)
	}
	want := [][]checker.Property{{checker.StrictExclusion, checker.LeaseHonoured}, {checker.Ownership}}
	if !slices.EqualFunc(got, want, slices.Equal) || !slices.Equal(all[0].Witness, []int{3, 11}) {
		t.Errorf("violations %v, want %v, of which the first is by events 3 and 11", got, want)
	}
}
