package harness_test

import (
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/harness"
)

// TestStepsThatFindNothing checks that a step which finds nothing to act on is on record, and that no
// property passes then. The same step that finds it puts the lock to the test.
func TestStepsThatFindNothing(t *testing.T) {
	const refused = "A acquire; A read; B acquire; "
	for name, tc := range map[string]struct {
		steps string
		why   string // empty: it does not miss
	}{
		"an age of a lease":     {refused + "wait lease-ages A for 0.5T", ""},
		"an age of no lease":    {refused + "wait lease-ages B for 0.5T", "B holds no lease that could end"},
		"an end of a lease":     {refused + "wait lease-ends A", ""},
		"an end of no lease":    {refused + "wait lease-ends B", "B holds no lease that could end"},
		"a late command":        {"A acquire; A release; at B takes on all: hold; B acquire giving-up 0.25T &; wait held B; wait done B; A acquire; B acquire; let-go B", ""},
		"no command to hold":    {refused + "at B takes: hold; B read &; wait held B", "B's call ended and sent no command that the rule could hold"},
		"no reply to lose":      {refused + "at A takes reply: lose; A count", "were to get lost did not come"},
		"waiters that wait":     {refused + "B crowd", ""},
		"waiters that need not": {"A acquire; A release; A acquire; A release; B crowd", "nobody holds the lock that B should wait for"},
	} {
		t.Run(name, func(t *testing.T) {
			res := run(t, harness.Config{Output: harness.Output{CommandLog: true}, Test: harness.Test{
				Name: "miss", Lock: find(t, "setnx-px-lua"), TTL: 3 * time.Second, Seed: 1,
				Workload: script(t, 2, tc.steps+"; A release; B release; wait done B; A acquire; A release"),
			}})
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
