package checker

import (
	"slices"
	"strings"
	"testing"
)

func TestOnly(t *testing.T) {
	report := Report{Verdict: Fail, Results: []Result{
		{Property: StrictExclusion, Verdict: Fail},
		{Property: LeaseExclusion, Verdict: Pass},
		{Property: Ownership, Verdict: Unknown},
	}}
	tests := []struct {
		properties []Property
		want       Verdict
	}{
		{[]Property{StrictExclusion, LeaseExclusion}, Fail},
		{[]Property{LeaseExclusion}, Pass},
		{[]Property{LeaseExclusion, Ownership}, Unknown},
		{[]Property{LeaseExclusion, SingleWinner}, Pass},
		{[]Property{SingleWinner}, Unknown},
	}
	for _, tt := range tests {
		got := report.Only(tt.properties...)
		if got.Verdict != tt.want || len(got.Results) != len(tt.properties) {
			t.Errorf("only %v: %v, want %v", tt.properties, got, tt.want)
		}
		for i, p := range tt.properties {
			if got.Results[i].Property != p {
				t.Errorf("only %v: %v", tt.properties, got)
			}
		}
	}
	report.HarnessErrors = []string{"the history cannot be judged: x", "ownership: y", "lease-exclusion: z"}
	want := []string{"the history cannot be judged: x", "lease-exclusion: z"}
	if got := report.Only(LeaseExclusion).HarnessErrors; !slices.Equal(got, want) {
		t.Errorf("harness errors %q, want %q", got, want)
	}
	if len(report.Results) != 3 || len(report.HarnessErrors) != 3 {
		t.Error("the report itself was changed")
	}
}

func TestPropertiesAreAllThatIsJudged(t *testing.T) {
	all := Properties()
	seen := map[Property]bool{}
	for _, p := range all {
		if p == "" || seen[p] {
			t.Errorf("%q stands there twice, or is empty", p)
		}
		seen[p] = true
	}
	if len(all) != len(allSpecs())+1 || !seen[Linearizability] {
		t.Errorf("%v", all)
	}
}

// Whoever knows only a part of a history may acquit nobody, and accuse only where the part
// is whole.
func TestWithGaps(t *testing.T) {
	report := Report{Verdict: Fail, Results: []Result{
		{Property: StrictExclusion, Verdict: Fail, Witness: []int{4, 8}},
		{Property: Ownership, Verdict: Fail, Witness: []int{4, 8}},
		{Property: DeadlockFreedom, Verdict: Pass},
		{Property: SingleWinner, Verdict: NotApplicable},
	}}
	tests := []struct {
		name string
		gaps []int
		want []Verdict
	}{
		{"no gap", nil, []Verdict{Fail, Fail, Pass, NotApplicable}},
		{"at the end", []int{10}, []Verdict{Fail, Fail, Unknown, NotApplicable}},
		{"before and at the end", []int{4, 10}, []Verdict{Fail, Unknown, Unknown, NotApplicable}},
		{"before", []int{4}, []Verdict{Fail, Unknown, Unknown, NotApplicable}},
		{"behind", []int{9}, []Verdict{Fail, Unknown, Unknown, NotApplicable}},
		{"inside", []int{5}, []Verdict{Unknown, Unknown, Unknown, NotApplicable}},
		{"anywhere", []int{Anywhere}, []Verdict{Unknown, Unknown, Unknown, NotApplicable}},
		{"before its last", []int{0, 8, 9}, []Verdict{Unknown, Unknown, Unknown, NotApplicable}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := report.WithGaps(tt.gaps, 10)
			for i, want := range tt.want {
				res := got.Results[i]
				if res.Verdict != want {
					t.Errorf("%s: %v, want %v", res.Property, res.Verdict, want)
				}
				if doubted := want == Unknown; strings.Contains(res.Story, "Not certain") != doubted {
					t.Errorf("%s: %q", res.Property, res.Story)
				}
			}
			if got.Verdict != NotApplicable.Merge(tt.want...) {
				t.Errorf("all together: %v", got.Verdict)
			}
		})
	}
	if report.Results[2].Verdict != Pass {
		t.Error("the report itself was changed")
	}
}
