package harness_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/harness"
	"github.com/lockbench/lockbench/histories"
	w "github.com/lockbench/lockbench/workloads"
)

// TestStepsThatFindNothing checks that a step which finds nothing to act on is on record, and that no
// property passes then. The same step that finds it puts the lock to the test.
func TestStepsThatFindNothing(t *testing.T) {
	refused := []w.Step{w.Acquire("A"), w.Read("A"), w.Acquire("B")}
	for name, tc := range map[string]struct {
		before []w.Step
		step   w.Step
		why    string // empty: it does not miss
	}{
		"an age of a lease":     {refused, w.LeaseAges("A", 0.5), ""},
		"an age of no lease":    {refused, w.LeaseAges("B", 0.5), "B holds no lease that could end"},
		"an end of a lease":     {refused, w.OwnLeaseEnds("A"), ""},
		"an end of no lease":    {refused, w.OwnLeaseEnds("B"), "B holds no lease that could end"},
		"a late command":        {[]w.Step{w.Acquire("A"), w.Release("A"), w.AcquireGivenUp("B"), w.Acquire("A"), w.Acquire("B")}, w.LandLate("B"), ""},
		"no late command":       {refused, w.LandLate("B"), "no command of B is held up"},
		"waiters that wait":     {refused, w.AwaitUntilPoolEmpty("A", "B"), ""},
		"waiters that need not": {[]w.Step{w.Acquire("A"), w.Release("A"), w.Acquire("A"), w.Release("A")}, w.AwaitUntilPoolEmpty("A", "B"), "B does not wait for the lock: its call is over"},
	} {
		t.Run(name, func(t *testing.T) {
			steps := slices.Concat(tc.before, []w.Step{tc.step, w.Release("A"), w.Release("B"), w.TurnsEnd("B"), w.Acquire("A"), w.Release("A")})
			res := run(t, harness.Config{
				Name: "miss", Lock: find(t, "setnx-px-lua"), TTL: 3 * time.Second, Seed: 1, Tape: true,
				Workload: w.Script{Cast: 2, Steps: steps},
			})
			var missed []string
			for _, e := range res.Events {
				if e.F == histories.Missed {
					missed = append(missed, e.Value)
				}
			}
			if tc.why == "" {
				if len(missed) > 0 || len(res.Report.Vacuous) > 0 || res.Report.Result(checker.StrictExclusion).Verdict == checker.Unknown {
					t.Errorf("missed %q, vacuous %q, %s", missed, res.Report.Vacuous, res.Report.Result(checker.StrictExclusion).Story)
				}
				return
			}
			if len(missed) != 1 || !strings.Contains(missed[0], tc.why) {
				t.Errorf("missed %q, want %q", missed, tc.why)
			}
			for _, r := range res.Report.Results {
				if r.Verdict == checker.Pass {
					t.Errorf("%s passes", r.Property)
				}
			}
			if res.Report.Verdict != checker.Unknown {
				t.Errorf("verdict %v, want unknown", res.Report.Verdict)
			}
		})
	}
}
