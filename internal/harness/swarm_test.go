package harness_test

import (
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/libraries"
	"github.com/lockbench/lockbench/internal/resource"
	"github.com/lockbench/lockbench/internal/testkit/effort"
	"github.com/lockbench/lockbench/internal/testkit/locktest"
)

// TestSwarmReplays: a run of swarm gives the same bytes again, whatever its clients do and whatever hits them.
func TestSwarmReplays(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	all := libraries.Catalogue()
	faults := [][]string{nil, {"pause", "late"}, {"crash", "lost-reply"}, {"stall", "duplicate"}}
	seeds := make([]uint64, 24)
	for i := range seeds {
		seeds[i] = uint64(i)
	}
	for _, seed := range effort.Part(seeds, 5) { // each has other faults than the one before
		load := harness.Load{Workload: "swarm", Clients: 3, Keys: 2, Nemesis: faults[seed%4]}
		cfg := workload(t, load, all[(seed*7)%uint64(len(all))].Name, resource.None)
		cfg.Seed = seed
		runtime.GOMAXPROCS(1)
		once, res, err := keptRun(t, cfg)
		if err != nil {
			t.Fatal(err)
		}
		runtime.GOMAXPROCS(2)
		again, _, err := keptRun(t, judgedBefore(cfg, res))
		if err != nil {
			t.Fatal(err)
		}
		if res.Meta.Replayable && once != again {
			t.Errorf("seed %d of %s: %s", seed, cfg.Lock.Name, difference(once, again))
		}
	}
}

// TestSwarmDraws: what clients do differs from seed to seed, each run tells it, and another run can be told to draw the same.
func TestSwarmDraws(t *testing.T) {
	told := map[string]int{}
	note := func(load harness.Load, seed uint64) string {
		cfg := workload(t, load, "setnx-px-lua", resource.None)
		cfg.Seed = seed
		res, err := harness.Run(t.Context(), cfg)
		if err != nil || res.Report.Verdict == checker.Disagreement {
			t.Fatal(err, res.Report.Verdict)
		}
		i := slices.IndexFunc(res.Meta.Notes, func(n string) bool { return strings.HasPrefix(n, "clients of this run: ") })
		if i < 0 {
			t.Fatalf("notes are %q, want what clients do among them", res.Meta.Notes)
		}
		return res.Meta.Notes[i]
	}
	load := harness.Load{Workload: "swarm", Clients: 3}
	for seed := range uint64(8) {
		told[note(load, seed+1)]++
	}
	if len(told) < 7 {
		t.Errorf("8 seeds draw %d choices, want 7 at least: %v", len(told), told)
	}
	like := load
	like.Like = 1
	if a, b := note(load, 1), note(like, 2); a != b {
		t.Errorf("a run like that of seed 1 draws %q, want %q", b, a)
	}
}

// TestSwarmActs: in some runs clients extend, enter again, hold two keys, leave without a release, release twice and wait.
func TestSwarmActs(t *testing.T) {
	seen := map[histories.F]bool{}
	twice, nested := false, false
	for seed := range uint64(12) {
		cfg := workload(t, harness.Load{Workload: "swarm", Clients: 3, Keys: 2}, "lua-uuid-repaired", resource.None)
		cfg.Seed = seed
		res, err := harness.Run(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		released, held := map[uint64]bool{}, map[int]uint64{}
		for _, e := range res.Events {
			seen[e.F] = true
			switch {
			case e.F == histories.Release && e.Type == histories.Invoke:
				twice = twice || released[e.Attempt]
				released[e.Attempt] = true
				delete(held, e.Process)
			case e.F == histories.Acquire && e.Type == histories.Invoke:
				nested = nested || held[e.Process] != 0
			case e.F == histories.Acquire && e.Type == histories.OK:
				held[e.Process] = e.Attempt
			}
		}
	}
	for _, f := range []histories.F{histories.Extend, histories.Abandon, histories.Waited, histories.Read, histories.Write} {
		if !seen[f] {
			t.Errorf("nobody did %s", f)
		}
	}
	if !twice || !nested {
		t.Errorf("released twice: %v, acquired inside a section: %v; want both", twice, nested)
	}
}

// TestSwarmOnServers: the load is the same on real servers.
func TestSwarmOnServers(t *testing.T) {
	locktest.NeedRedis(t)
	cfg := workloadFor(t, harness.Load{Workload: "swarm", Clients: 3, Keys: 2, Nemesis: []string{"late"}}, "setnx-px-del", resource.None, harness.Process(), 300e6)
	cfg.Seed = 1
	res, err := harness.Run(t.Context(), cfg)
	if err != nil || res.Report.Result(checker.LeaseExclusion).Verdict == checker.NotApplicable {
		t.Errorf("%v, %v; want a run that is judged", err, res.Report.Verdict)
	}
}
