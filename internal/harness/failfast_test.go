package harness_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/resource"
)

// endedEarly is what a run says of its end: the property that was seen to be violated and how
// many events there were then, or "".
func endedEarly(t *testing.T, res harness.Result) (checker.Property, int) {
	t.Helper()
	for _, note := range res.Meta.Notes {
		_, found, ok := strings.Cut(note, "the load ended early (--fail-fast): ")
		if !ok {
			continue
		}
		var property string
		var n int
		if _, err := fmt.Sscanf(found, "%s was seen to be violated after %d events", &property, &n); err != nil {
			t.Fatalf("%q: %v", note, err)
		}
		return checker.Property(property), n
	}
	return "", 0
}

// TestFailFast checks that a run with FailFast is the beginning of one without, that it has the
// same outcome, and that it ends alike each time. A lock that keeps its promise sees no
// difference at all.
func TestFailFast(t *testing.T) {
	for _, tc := range []struct {
		load  harness.Load
		lock  string
		guard resource.Guard
		ends  bool
	}{
		{harness.Load{Workload: "contend", Clients: 5, Limit: 40 * time.Second, Nemesis: []string{"pause"}}, "fenced", resource.None, true},
		{harness.Load{Workload: "contend", Clients: 5, Limit: 10 * time.Second, Nemesis: []string{"pause"}}, "fenced", resource.Fence, false},
		{harness.Load{Workload: "contend", Clients: 5}, "setnx-px-lua", resource.None, false},
		{harness.Load{Workload: "lottery", Clients: 5, Rounds: 40}, "exists-set", resource.None, true},
		{harness.Load{Workload: "readwrite", Clients: 5}, "rw-two-key", resource.None, true},
		{harness.Load{Workload: "increment", Clients: 5}, "exists-set", resource.None, true},
		{harness.Load{Workload: "reentrant", Clients: 5}, "reentrant-hash-thread-id", resource.None, true},
	} {
		t.Run(strings.Join(append([]string{tc.load.Workload, tc.lock, tc.guard.String()}, tc.load.Nemesis...), "-"), func(t *testing.T) {
			t.Parallel()
			cfg := workload(t, tc.load, tc.lock, tc.guard)
			cfg.Seed = 1
			full := run(t, cfg)
			cfg.FailFast = true
			quick := run(t, cfg)
			again := run(t, judgedBefore(cfg, quick))

			if !slices.Equal(quick.Events, again.Events) {
				t.Errorf("the same seed gives another history:\n%s", cmp.Diff(quick.Events, again.Events))
			}
			if quick.Outcome != full.Outcome {
				t.Errorf("the outcome is %v, and %v of the whole load", quick.Outcome, full.Outcome)
			}
			found, n := endedEarly(t, quick)
			if !tc.ends {
				if found != "" || !slices.Equal(quick.Events, full.Events) {
					t.Errorf("the run ended early: %v", quick.Meta.Notes)
				}
				return
			}
			if quick.Report.Result(found).Verdict != checker.Fail {
				t.Errorf("it ended for %q, which is %+v", found, quick.Report.Result(found))
			}
			if n == 0 || n > len(quick.Events) || len(quick.Events) >= len(full.Events) || !slices.Equal(quick.Events[:n], full.Events[:n]) {
				t.Fatalf("%d events, %d of them before the end was decided, are no beginning of the %d of the whole load", len(quick.Events), n, len(full.Events))
			}
			if late := n - slices.Max(quick.Report.Result(found).Witness); late > 40 {
				t.Errorf("%s was seen %d events late", found, late)
			}
			// Whoever was in a section has left it, and what was broken is whole again.
			for _, h := range histories.Holds(quick.Events) {
				if h.Believed() && h.Open() {
					t.Errorf("%s holds %s for ever", histories.WorkerName(h.Worker), h.Key)
				}
			}
			if got := quick.Report.Result(checker.DeadlockFreedom); got.Verdict != checker.Pass && quick.Report.Vacuous == nil {
				t.Errorf("deadlock freedom is %v: %s", got.Verdict, got.Story)
			}
		})
	}
}

// What was given up beforehand ends no run, and what is expected does.
func TestFailFastKnowsWhatIsExpected(t *testing.T) {
	cfg := workload(t, harness.Load{Workload: "contend", Clients: 5, Limit: 10 * time.Second, Nemesis: []string{"pause"}}, "fenced", resource.Fence)
	cfg.Seed, cfg.FailFast = 2, true
	patient := run(t, cfg)
	if found, _ := endedEarly(t, patient); found != "" {
		t.Errorf("%s ended the run", found)
	}
	cfg.Want = checker.Expectation{checker.StrictExclusion: checker.Fail}
	quick := run(t, cfg)
	if found, _ := endedEarly(t, quick); found != checker.StrictExclusion || quick.Outcome != checker.AsExpected || len(quick.Events) >= len(patient.Events) {
		t.Errorf("%q ended the run after %d of %d events, and it is %v", found, len(quick.Events), len(patient.Events), quick.Outcome)
	}
}
