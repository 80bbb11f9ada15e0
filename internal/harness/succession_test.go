package harness_test

import (
	"strings"
	"testing"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/resource"
	"github.com/lockbench/lockbench/internal/testkit/effort"
	"github.com/lockbench/lockbench/nemesis"
)

// TestSuccessionsInVirtualTime checks what masters that come and go do to locks that trust one master. (A
// majority of independent ones is no help against a split brain of one of them: it counts
// for both sides.)
func TestSuccessionsInVirtualTime(t *testing.T) {
	effort.Long(t)
	for _, tc := range []struct {
		lock, nemesis string
		breaks        bool   // lease exclusion, in every seed
		seen          string // of the first fault, in every seed
	}{
		{"setnx-px-lua", "split-brain", true, "; healed: master follows replica and throws away "},
		{"setnx-px-lua", "partial-replication", true, " is promoted, master throws away "},
		{"setnx-px-wait", "partial-replication", true, " is promoted, master throws away "}, // P17: one acknowledged it
		{"setnx-px-lua", "demote", false, "it answers writes with READONLY"},
	} {
		t.Run(tc.lock+"/"+tc.nemesis, func(t *testing.T) {
			t.Parallel()
			cfg := underFaults(t, tc.lock, resource.None, tc.nemesis)
			kinds, err := nemesis.Find([]string{tc.nemesis})
			if err != nil {
				t.Fatal(err)
			}
			for cfg.Seed = 1; cfg.Seed <= uint64(effort.Count(1, 3)); cfg.Seed++ {
				play := run
				if cfg.Seed == 1 {
					play = replays
				}
				res := play(t, cfg)
				want := checker.Pass
				if tc.breaks {
					want = checker.Fail
				}
				if got := res.Report.Result(checker.LeaseExclusion); got.Verdict != want {
					t.Errorf("seed %d: lease exclusion is %v, want %v: %s", cfg.Seed, got.Verdict, want, got.Story)
				}
				if got := res.Report.Result(checker.DeadlockFreedom); got.Verdict != checker.Pass {
					t.Errorf("seed %d: the lock cannot be had again: %s", cfg.Seed, got.Story)
				}
				if got := seenOf(t, res, kinds[0].F); !strings.Contains(got, tc.seen) {
					t.Errorf("seed %d: seen %q", cfg.Seed, got)
				}
				if !res.Meta.Replayable {
					t.Errorf("seed %d cannot be replayed: %v", cfg.Seed, res.Meta.Notes)
				}
			}
		})
	}
}
