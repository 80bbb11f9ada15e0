package gate_test

import (
	"context"
	"testing"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/cmd/lockbench/internal/gate"
	"github.com/lockbench/lockbench/internal/harness"
)

// TestVerdictsAreCertified: a judge that says what the history does not prove is an error of lockbench, also
// where nothing else is expected of the run.
func TestVerdictsAreCertified(t *testing.T) {
	for _, c := range []struct {
		name     string
		property checker.Property
		verdict  checker.Verdict
		want     gate.Outcome
	}{
		{"nothing is changed", "", checker.Unknown, gate.Expected},
		{"an accusation of what is explained", checker.Ownership, checker.Fail, gate.Failed},
		{"an accusation of what is not found", checker.Availability, checker.Fail, gate.Failed},
		{"a pass of what is found", checker.StrictExclusion, checker.Pass, gate.Failed},
		{"no claim", checker.StrictExclusion, checker.Unknown, gate.Expected},
	} {
		plan, err := gate.NewPlan(gate.Options{Only: []string{"P14"}, Run: func(ctx context.Context, cfg harness.Config) (harness.Result, error) {
			res, err := harness.Run(ctx, cfg)
			for i := range res.Report.Results {
				if r := &res.Report.Results[i]; r.Property == c.property {
					r.Verdict = c.verdict
				}
			}
			return res, err
		}})
		if err != nil {
			t.Fatal(err)
		}
		res, err := plan.Play(t.Context(), 1, gate.Watch{})
		if err != nil {
			t.Fatal(err)
		}
		if got := res.Outcome(gate.Baseline{}); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
