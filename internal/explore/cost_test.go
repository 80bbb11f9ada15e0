package explore_test

import (
	"testing"

	"github.com/lockbench/lockbench/internal/explore"
	"github.com/lockbench/lockbench/internal/harness"
)

// TestCostOfRuns: what a run makes has a bound, a tenth above what it was when this was written, and a lock on five masters costs no
// more than four times one on one. A search is as fast as its runs.
func TestCostOfRuns(t *testing.T) {
	allocations := func(program, lock string) float64 {
		spec, backend := find(t, lock), harness.Embedded()
		p := programOf(t, spec, program)
		return testing.AllocsPerRun(20, func() {
			if _, err := explore.Run(t.Context(), p, spec, backend); err != nil {
				t.Fatal(err)
			}
		})
	}
	of := map[string]float64{}
	for _, c := range []struct {
		program, lock string
		most          float64
	}{{"once", "setnx-px-lua", 5000}, {"sections", "setnx-px-lua", 7200}, {"once", "redlock", 14000}} {
		n := allocations(c.program, c.lock)
		t.Logf("%s with %s: %.0f allocations", c.program, c.lock, n)
		if n > c.most {
			t.Errorf("%s with %s: %.0f allocations, want %.0f at most", c.program, c.lock, n, c.most)
		}
		of[c.program+" "+c.lock] = n
	}
	if one, five := of["once setnx-px-lua"], of["once redlock"]; five > 4*one {
		t.Errorf("%.0f allocations on five masters, and %.0f on one: want four times as many at most", five, one)
	}
}
