package gate_test

import (
	"strings"
	"testing"

	"github.com/lockbench/lockbench/cmd/lockbench/internal/gate"
	"github.com/lockbench/lockbench/histories"
)

// results are those of a gate of so many planned runs. A run is its number, its seed and its outcome.
func results(planned int, only string, runs ...string) gate.Results {
	r := gate.Results{Schema: 1, Backend: histories.BackendEmbedded, Shard: gate.Shard{Index: 1, Of: 1}, Planned: planned, Share: planned}
	if only != "" {
		r.Only = strings.Split(only, ",")
	}
	for i, run := range runs {
		id, outcome, _ := strings.Cut(run, " ")
		r.Rows = append(r.Rows, gate.Row{At: i, ID: id, Scenario: "s-" + id, Lock: "l", Seed: 1, Outcome: gate.Outcome(outcome)})
	}
	return r
}

// TestOver checks what is known of a gate after another.
func TestOver(t *testing.T) {
	whole := results(3, "", "P01 expected", "P02 unexpected", "P03 unknown")
	cut := results(3, "", "P01 error")
	again := results(2, "", "P02 expected", "P03 expected")
	again.Again = "gate.json"
	for name, tc := range map[string]struct {
		before, after gate.Results
		want          string
		whole         bool
	}{
		"first":           {gate.Results{}, whole, "P01 expected, P02 unexpected, P03 unknown", true},
		"first, cut":      {gate.Results{}, cut, "P01 error", false},
		"first, a choice": {gate.Results{}, results(1, "P02", "P02 expected"), "P02 expected", true},
		"a choice":        {whole, results(1, "P02", "P02 expected"), "P01 expected, P02 expected, P03 unknown", true},
		"another choice":  {results(1, "P02", "P02 expected"), results(1, "P01", "P01 unknown"), "P01 unknown, P02 expected", true},
		"again":           {whole, again, "P01 expected, P02 expected, P03 expected", true},
		"everything":      {whole, results(1, "", "P09 expected"), "P09 expected", true}, // of a newer catalogue
		"everything, cut": {whole, cut, "P01 error, P02 unexpected, P03 unknown", true},
		"one after a cut": {cut, results(1, "P02", "P02 expected"), "P01 error, P02 expected", false},
	} {
		now := tc.after.Over(tc.before)
		var got []string
		for i, r := range now.Rows {
			if r.At != i {
				t.Errorf("%s: row %d is at %d", name, i, r.At)
			}
			got = append(got, r.ID+" "+string(r.Outcome))
		}
		if text := strings.Join(got, ", "); text != tc.want || now.Whole() != tc.whole {
			t.Errorf("%s: %s, whole %v; want %s, %v", name, text, now.Whole(), tc.want, tc.whole)
		}
		if now.Again != "" || now.Shard != (gate.Shard{Index: 1, Of: 1}) {
			t.Errorf("%s: it is of %q, shard %v", name, now.Again, now.Shard)
		}
	}
	if whole.Rows[1].Outcome != gate.Unexpected {
		t.Error("what was known before has changed")
	}
	var parts gate.Results
	for i, run := range []string{"P01 expected", "P02 expected", "P03 expected"} {
		part := results(3, "", run)
		part.Shard, part.Share = gate.Shard{Index: i + 1, Of: 3}, 1
		parts = part.Over(parts)
		if whole := i == 2; parts.Whole() != whole {
			t.Errorf("after %d of 3 shards all is known: %v", i+1, parts.Whole())
		}
	}
}

// TestAgain checks that what failed alone is planned again, with its seeds, and that what cannot be is told.
func TestAgain(t *testing.T) {
	rows := play(t, gate.Options{Only: []string{"P07", "P08"}, Runs: 3, Run: pretend(nil)}).Rows
	lost := gate.Row{ID: "P09", Scenario: "watch-expired-key", Lock: "gone", Seed: 7}
	again := &gate.Again{File: "gate.json", Rows: []gate.Row{rows[1], rows[5], lost}}
	opt := gate.Options{Again: again, Seed: 40, Runs: 2, Run: pretend(nil)}
	res := play(t, opt)
	var got []string
	for _, r := range res.Rows {
		got = append(got, r.Scenario+" "+r.Lock)
		if r.Seed != rows[1].Seed && r.Seed != rows[5].Seed {
			t.Errorf("seed %d was played, which did not fail", r.Seed)
		}
	}
	if len(got) != 2 || res.Again != "gate.json" {
		t.Errorf("of %q these were played: %v", res.Again, got)
	}
	plan, err := gate.NewPlan(opt)
	if err != nil {
		t.Fatal(err)
	}
	if l := plan.Lost(); len(l) != 1 || l[0].Lock != "gone" {
		t.Errorf("lost: %v", l)
	}
}
