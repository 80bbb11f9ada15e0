package harness_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/harness"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/locks"
	"github.com/lockbench/lockbench/locks/locktest"
	"github.com/lockbench/lockbench/resource"
	"github.com/lockbench/lockbench/scenarios"
	"github.com/lockbench/lockbench/workloads"
)

func find(t testing.TB, name string) locks.Spec {
	t.Helper()
	spec, err := locks.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return spec
}

func scenario(t testing.TB, s scenarios.Scenario, c scenarios.Case, backend string) harness.Config {
	t.Helper()
	cfg, err := harness.ForScenario(s, find(t, c.Lock), c.Guard, backend, 0)
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

func contend(t testing.TB, lock, backend string, clients, rounds int) harness.Config {
	t.Helper()
	cfg, err := harness.ForContend(clients, rounds, find(t, lock), resource.None, backend, 0)
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

func run(t testing.TB, cfg harness.Config) harness.Result {
	t.Helper()
	res, err := harness.Run(context.Background(), cfg)
	if err != nil {
		t.Fatalf("seed %d: %v", cfg.Seed, err)
	}
	return res
}

func explain(res harness.Result) string {
	var b strings.Builder
	for _, j := range res.Expected {
		if !j.Met {
			fmt.Fprintf(&b, "%s: want %v, got %v: %s\n", j.Property, j.Want, j.Got, res.Report.Result(j.Property).Story)
		}
	}
	return b.String()
}

// TestCatalogue runs every scenario, the broken lock and its twins, on every backend.
func TestCatalogue(t *testing.T) {
	for _, backend := range harness.Backends() {
		for _, s := range scenarios.All() {
			for _, c := range s.Cases {
				t.Run(fmt.Sprintf("%s/%s/%v", backend, s.Name, c), func(t *testing.T) {
					seeds := uint64(50)
					if testing.Short() {
						seeds = 5
					}
					if backend == harness.Process {
						locktest.NeedRedis(t)
						t.Parallel() // most of the time is spent waiting for leases to end
						seeds = 1
					}
					cfg := scenario(t, s, c, backend)
					for cfg.Seed = 1; cfg.Seed <= seeds; cfg.Seed++ {
						res := run(t, cfg)
						if res.Outcome != checker.AsExpected {
							t.Fatalf("seed %d is %v:\n%s", cfg.Seed, res.Outcome, explain(res))
						}
						if backend == harness.Embedded && !res.Meta.Replayable {
							t.Errorf("seed %d cannot be replayed: %v", cfg.Seed, res.Meta.Notes)
						}
					}
				})
			}
		}
	}
}

// TestContendWithoutFaults runs random load on every lock. Without faults and with
// sections much shorter than the lease every lock here keeps its promise.
func TestContendWithoutFaults(t *testing.T) {
	for _, spec := range locks.All() {
		t.Run(spec.Name, func(t *testing.T) {
			cfg := contend(t, spec.Name, harness.Embedded, 4, 5)
			for cfg.Seed = 1; cfg.Seed <= 20; cfg.Seed++ {
				res := run(t, cfg)
				if res.Report.Verdict != checker.Pass {
					t.Fatalf("seed %d: %v\n%s", cfg.Seed, res.Report.Verdict, explain(res))
				}
				if !res.Meta.Replayable {
					t.Errorf("seed %d cannot be replayed: %v", cfg.Seed, res.Meta.Notes)
				}
			}
		})
	}
}

func TestContendOnRealServers(t *testing.T) {
	locktest.NeedRedis(t)
	for _, lock := range []string{"setnx-px-lua", "redlock"} {
		t.Run(lock, func(t *testing.T) {
			t.Parallel()
			if res := run(t, contend(t, lock, harness.Process, 4, 5)); res.Report.Verdict != checker.Pass {
				t.Fatalf("%v\n%s", res.Report.Verdict, explain(res))
			}
		})
	}
}

// TestSameSeedSameBytes repeats runs, side by side and with one and two processors, and
// compares the files they leave.
func TestSameSeedSameBytes(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	failover, err := scenarios.Find("failover-async-repl")
	if err != nil {
		t.Fatal(err)
	}
	for name, cfg := range map[string]harness.Config{
		"failover": scenario(t, failover, failover.Broken(), harness.Embedded),
		"redlock":  scenario(t, failover, scenarios.Case{Lock: "redlock"}, harness.Embedded),
		"contend":  contend(t, "redlock", harness.Embedded, 5, 5),
	} {
		t.Run(name, func(t *testing.T) {
			other := cfg
			cfg.Seed, other.Seed = 7, 8
			want := recorded(t, cfg)
			for _, procs := range []int{1, 2} {
				runtime.GOMAXPROCS(procs)
				var wg sync.WaitGroup
				for range 4 {
					wg.Go(func() {
						if got := recorded(t, cfg); got != want {
							t.Errorf("GOMAXPROCS=%d: seed 7 gave other bytes", procs)
						}
					})
				}
				wg.Wait()
			}
			if recorded(t, other) == want {
				t.Error("seeds 7 and 8 gave the same bytes")
			}
		})
	}
}

// recorded runs cfg and returns what it left in history.jsonl and commands.jsonl.
func recorded(t *testing.T, cfg harness.Config) string {
	cfg.Out = t.TempDir()
	res, err := harness.Run(context.Background(), cfg)
	if err != nil {
		t.Error(err)
	}
	history, err := os.ReadFile(filepath.Join(res.Dir, "history.jsonl"))
	if err != nil || len(history) == 0 {
		t.Errorf("history: %d bytes, %v", len(history), err)
	}
	commands, err := os.ReadFile(filepath.Join(res.Dir, "commands.jsonl"))
	if err != nil && cfg.Directed {
		t.Error(err)
	}
	return string(history) + string(commands)
}

// TestNothingIsLeft checks that a run leaves no goroutine behind, whatever its end.
func TestNothingIsLeft(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	for _, s := range scenarios.All() {
		run(t, scenario(t, s, s.Broken(), harness.Embedded))
	}
	broken := contend(t, "setnx-px-lua", harness.Embedded, 2, 1)
	broken.Workload = workloads.Script{Cast: 1, Steps: []workloads.Step{workloads.Acquire("Z")}}
	if _, err := harness.Run(context.Background(), broken); err == nil || !strings.Contains(err.Error(), `"Z"`) {
		t.Errorf("a script with an unknown client: %v", err)
	}
}

func TestInterrupted(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	cfg := contend(t, "setnx-px-lua", harness.Embedded, 4, 5)
	cfg.Out = t.TempDir()
	res, err := harness.Run(ctx, cfg)
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v, want context.Canceled", err)
	}
	meta, events, err := histories.Load(res.Dir)
	if err != nil || meta.Phase != histories.PhaseRecorded || len(events) == 0 {
		t.Errorf("kept: phase %q, %d events, %v", meta.Phase, len(events), err)
	}
}

func TestVacuousRunsAreUnknown(t *testing.T) {
	res := run(t, contend(t, "setnx-px-lua", harness.Embedded, 1, 5))
	if res.Outcome != checker.Undecided || res.Report.Result(checker.StrictExclusion).Verdict != checker.Unknown {
		t.Errorf("one client alone: %v, %v", res.Outcome, res.Report.Results)
	}
}

func TestBadConfigs(t *testing.T) {
	good := contend(t, "setnx-px-lua", harness.Embedded, 2, 1)
	for name, tc := range map[string]struct {
		spoil func(*harness.Config)
		want  string
	}{
		"ttl":     {func(c *harness.Config) { c.TTL = 0 }, "TTL"},
		"backend": {func(c *harness.Config) { c.Backend = "remote" }, "remote"},
		"out": {func(c *harness.Config) {
			c.Out = filepath.Join(t.TempDir(), "file")
			if err := os.WriteFile(c.Out, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}, "--out"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := good
			tc.spoil(&cfg)
			if _, err := harness.Run(context.Background(), cfg); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want an error about %q", err, tc.want)
			}
		})
	}
	if _, err := harness.ForScenario(scenarios.All()[0], find(t, "setnx-px-lua"), resource.Fence, harness.Embedded, 0); err == nil {
		t.Error("guard fence was accepted for a lock without tokens")
	}
}

// TestRunsAreKeptInPhases reads a finished run back.
func TestRunsAreKeptInPhases(t *testing.T) {
	s := scenarios.All()[0]
	cfg := scenario(t, s, s.Broken(), harness.Embedded)
	cfg.Out = t.TempDir()
	res := run(t, cfg)
	meta, events, err := histories.Load(res.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if meta.Phase != histories.PhaseChecked || meta.Lock != cfg.Lock.Name || len(events) != len(res.Events) {
		t.Errorf("read back %+v and %d events", meta, len(events))
	}
	results, err := os.ReadFile(filepath.Join(res.Dir, "results.json"))
	if err != nil || !bytes.Contains(results, []byte(`"deadlock-freedom"`)) {
		t.Errorf("results.json: %v\n%s", err, results)
	}
}

func benchmark(b *testing.B, lock string, rounds int) {
	cfg := contend(b, lock, harness.Embedded, 5, rounds)
	b.ReportAllocs()
	for b.Loop() {
		cfg.Seed++
		res := run(b, cfg)
		if res.Report.Verdict != checker.Pass {
			b.Fatal(res.Report.Verdict)
		}
	}
}

// One whole embedded run, from nothing to the verdict: 5 clients, 20 rounds each.
func BenchmarkRunOneServer(b *testing.B)   { benchmark(b, "setnx-px-lua", 20) }
func BenchmarkRunFiveServers(b *testing.B) { benchmark(b, "redlock", 20) }
