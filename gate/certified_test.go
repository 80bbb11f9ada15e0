package gate_test

import (
	"context"
	"testing"

	"github.com/lockbench/lockbench/gate"
	"github.com/lockbench/lockbench/harness"
	"github.com/lockbench/lockbench/histories"
)

// TestVerdictsAreCertified: a judge that accuses what an order of all calls explains is an error of
// lockbench, also where the accusation is expected.
func TestVerdictsAreCertified(t *testing.T) {
	turn := []histories.Event{
		{Type: histories.Invoke, F: histories.Acquire, Key: "k", Attempt: 1, TTL: 1e9},
		{Index: 1, Time: 1e6, Type: histories.OK, F: histories.Acquire, Key: "k", Attempt: 1},
		{Index: 2, Time: 2e6, Type: histories.Invoke, F: histories.Release, Key: "k", Attempt: 1},
		{Index: 3, Time: 3e6, Type: histories.OK, F: histories.Release, Key: "k", Attempt: 1},
	}
	play := func(witness []int) gate.Outcome {
		run := pretend(nil)
		plan, err := gate.NewPlan(gate.Options{Only: []string{"P14"}, Run: func(ctx context.Context, cfg harness.Config) (harness.Result, error) {
			res, err := run(ctx, cfg)
			res.Events = turn
			for i := range res.Report.Results {
				res.Report.Results[i].Witness = witness
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
		return res.Outcome(gate.Baseline{})
	}
	if got := play(nil); got != gate.Expected {
		t.Errorf("accused of nothing in particular: %v, want %v", got, gate.Expected)
	}
	if got := play([]int{1, 3}); got != gate.Failed {
		t.Errorf("accused of what is explained: %v, want %v", got, gate.Failed)
	}
}
