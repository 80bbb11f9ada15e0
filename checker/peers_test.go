package checker_test

import (
	"testing"

	"github.com/lockbench/lockbench/checker"
)

// TestWeigh: what no other lock keeps decides nothing any more, and the rest does.
func TestWeigh(t *testing.T) {
	report := func(ownership, resource checker.Verdict) checker.Report {
		return checker.Report{Verdict: checker.Fail, Results: []checker.Result{
			{Property: checker.Ownership, Verdict: ownership}, {Property: checker.ResourceSafety, Verdict: resource},
		}}
	}
	for name, tt := range map[string]struct {
		ownership, resource checker.Verdict
		unavoidable, rare   []checker.Property
		want                checker.Outcome
	}{
		"all of it is unavoidable": {checker.Pass, checker.Fail, []checker.Property{checker.ResourceSafety}, nil, checker.AsExpected},
		"some of it is not":        {checker.Fail, checker.Fail, []checker.Property{checker.ResourceSafety}, nil, checker.Unexpected},
		"the rest is unknown":      {checker.Unknown, checker.Fail, []checker.Property{checker.ResourceSafety}, nil, checker.Undecided},
		"none of it is":            {checker.Pass, checker.Fail, nil, nil, checker.Unexpected},
		"it is too rare":           {checker.Pass, checker.Fail, nil, []checker.Property{checker.ResourceSafety}, checker.Undecided},
		"some of it is rare":       {checker.Fail, checker.Fail, nil, []checker.Property{checker.ResourceSafety}, checker.Unexpected},
	} {
		t.Run(name, func(t *testing.T) {
			j, err := checker.NewJudgement(report(tt.ownership, tt.resource), nil, checker.Unknown)
			if err != nil {
				t.Fatal(err)
			}
			j.Weigh(checker.Peers{Unavoidable: tt.unavoidable, Rare: tt.rare})
			if j.Outcome != tt.want || j.Peers == nil {
				t.Errorf("%v, want %v: %+v", j.Outcome, tt.want, j.Expected)
			}
		})
	}
}
