package harness_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/player"
	"github.com/lockbench/lockbench/internal/resource"
	"github.com/lockbench/lockbench/internal/testkit/effort"
	"github.com/lockbench/lockbench/nemesis"
	"github.com/lockbench/lockbench/workloads"
)

// observed is what the faults of a run recorded when they were over.
func observed(t *testing.T, res harness.Result, f histories.F) (seen []string) {
	t.Helper()
	for _, e := range res.Events {
		if e.F != f || e.Type == histories.Invoke {
			continue
		}
		if e.Type != histories.OK {
			t.Errorf("seed %d: %s failed: %s", res.Config.Seed, f, e.Err)
		}
		seen = append(seen, e.Value)
	}
	return seen
}

// TestNetworkFaultsReplay runs the faults on the wire together, and each on its own: every
// run can be repeated, and each fault hits something.
func TestNetworkFaultsReplay(t *testing.T) {
	effort.Long(t)
	together := []string{"latency", "partition", "one-way", "late", "renewal-cut", "duplicate", "subscriber-cut", "lost-reply", "hung-reply"}
	for name, tc := range map[string]struct {
		lock  string
		kinds []string
		fault histories.F
		hit   string
	}{
		"latency":   {"setnx-px-lua", []string{"latency"}, nemesis.LatencyF, "messages delayed, by "},
		"redlock":   {"redlock", []string{"latency"}, nemesis.LatencyF, "messages delayed, by "},
		"duplicate": {"reentrant-hash", []string{"duplicate"}, nemesis.DuplicateF, "executed twice: EVALSHA"},
		"partition": {"setnx-px-lua", []string{"partition"}, nemesis.PartitionF, "1 connection broke"},
		"late":      {"setnx-px-lua", []string{"late"}, nemesis.LateF, "waited, and is delivered"},
		"together":  {"redisson-style", together, nemesis.LatencyF, "messages delayed, by "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			load := harness.Load{Clients: 5, Limit: 20 * time.Second, Nemesis: tc.kinds}
			cfg, err := harness.ForWorkload(load, find(t, tc.lock), resource.None, harness.Embedded(), 0)
			if err != nil {
				t.Fatal(err)
			}
			cfg.CommandLog = true
			hit := false
			for cfg.Seed = 1; cfg.Seed <= uint64(effort.Count(1, 3)); cfg.Seed++ {
				res := run(t, cfg)
				again := run(t, judgedBefore(cfg, res))
				if !res.Meta.Replayable {
					t.Errorf("seed %d cannot be replayed: %v", cfg.Seed, res.Meta.Notes)
				}
				if diff := cmp.Diff(res.Events, again.Events); diff != "" {
					t.Errorf("seed %d: two runs differ:\n%s", cfg.Seed, diff)
				}
				if diff := cmp.Diff(res.Exchanges, again.Exchanges); diff != "" {
					t.Errorf("seed %d: what crossed the wire differs:\n%s", cfg.Seed, diff)
				}
				for _, seen := range observed(t, res, tc.fault) {
					hit = hit || strings.Contains(seen, tc.hit)
				}
			}
			if !hit {
				t.Errorf("no %s said %q", tc.fault, tc.hit)
			}
		})
	}
}

// TestRenewalsGetLost: a lease that is not renewed ends under its holder, who acquires and
// releases as before. A holder that is told of it in time stops before somebody else comes.
func TestRenewalsGetLost(t *testing.T) {
	effort.Long(t)
	for lock, breaks := range map[string]bool{"watchdog": false, "redisson-style": false, "watchdog-untold": true, "rueidislock": true} {
		t.Run(lock, func(t *testing.T) {
			t.Parallel()
			kinds, err := nemesis.Find([]string{"renewal-cut"})
			if err != nil {
				t.Fatal(err)
			}
			cfg := contend(t, lock, harness.Embedded(), 3, 0)
			load, err := workloads.Find("contend")
			if err != nil {
				t.Fatal(err)
			}
			cfg.Workload = player.UnderFaults{
				Workload: load.New(workloads.Load{N: 3, Limit: 60 * time.Second, Section: 3 * cfg.TTL}), Kinds: kinds,
			}
			cfg.Faults, cfg.Nemesis = true, kinds
			lost, told, broken, released := false, false, false, 0
			for cfg.Seed = 1; cfg.Seed <= 3; cfg.Seed++ {
				res := run(t, cfg)
				for _, seen := range observed(t, res, nemesis.RenewalCutF) {
					lost = lost || strings.Contains(seen, "lost, such as EVALSHA")
				}
				broken = broken || res.Report.Result(checker.StrictExclusion).Verdict == checker.Fail
				for _, e := range res.Events {
					told = told || e.F == histories.Lost
					if e.F == histories.Acquire && e.Type == histories.Info {
						t.Errorf("seed %d: an acquire did not get through: %s", cfg.Seed, e.Err)
					}
					if e.F == histories.Release && e.Type == histories.OK {
						released++
					}
				}
			}
			if !lost || broken != breaks || released == 0 {
				t.Errorf("renewals lost: %v, exclusion broken: %v, want %v; released: %d", lost, broken, breaks, released)
			}
			if told != (lock != "watchdog-untold") {
				t.Errorf("holders were told of it: %v", told)
			}
		})
	}
}
