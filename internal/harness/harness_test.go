package harness_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/catalogue"
	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/libraries"
	"github.com/lockbench/lockbench/internal/player"
	"github.com/lockbench/lockbench/internal/redis/cluster"
	"github.com/lockbench/lockbench/internal/resource"
	"github.com/lockbench/lockbench/internal/schedule"
	"github.com/lockbench/lockbench/internal/testkit/effort"
	"github.com/lockbench/lockbench/internal/testkit/locktest"
	"github.com/lockbench/lockbench/locks"
	"github.com/lockbench/lockbench/nemesis"
	"github.com/lockbench/lockbench/scenarios"
)

func find(t testing.TB, name string) locks.Spec {
	t.Helper()
	spec, err := libraries.Catalogue().Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return spec
}

func scenario(t testing.TB, s scenarios.Scenario, c scenarios.Case, backend harness.Backend) harness.Config {
	t.Helper()
	s, err := s.With(c.Remedy)
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := s.Config(find(t, c.Lock), c.Guard, backend, 0)
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

func contend(t testing.TB, lock string, backend harness.Backend, clients, rounds int) harness.Config {
	t.Helper()
	cfg, err := harness.ForWorkload(harness.Load{Clients: clients, Rounds: rounds}, find(t, lock), resource.None, backend, 0)
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// run plays a configuration. A run on real servers that could not be judged because the machine
// stood still or a server was slow, or whose steps were not played in time, is played again. One that every judge could judge never is.
func run(t testing.TB, cfg harness.Config) harness.Result {
	t.Helper()
	return until(t, cfg, judged)
}

// decides plays a configuration as run does, but needs some properties decided and no others, as far as they are judged at all.
func decides(t testing.TB, cfg harness.Config, asked ...checker.Property) harness.Result {
	t.Helper()
	return until(t, cfg, func(res harness.Result) bool {
		return !slices.ContainsFunc(res.Report.Results, func(r checker.Result) bool {
			return r.Verdict == checker.Unknown && slices.Contains(asked, r.Property)
		})
	})
}

// until plays a configuration as run does, until enough is decided.
func until(t testing.TB, cfg harness.Config, enough func(harness.Result) bool) harness.Result {
	t.Helper()
	planned := cfg
	for n := 1; ; n++ {
		res, err := once(t, cfg)
		tired := !cfg.Backend.Virtual() && n <= 10
		switch {
		case tired && harness.Unplayed(err):
			t.Logf("seed %d: %v; again, as the machine may be busy", cfg.Seed, err)
		case err != nil:
			t.Fatalf("seed %d: %v", cfg.Seed, err)
		case tired && !enough(res):
			t.Logf("seed %d is %v; again, as the machine may be busy (stood still: %t, slow server: %t)", cfg.Seed, res.Outcome, res.Stalled(), res.Slow())
		default:
			return res
		}
		cfg = planned.Again(n)
	}
}

// judged reports whether all judges could judge, or none can be expected to after another run.
func judged(res harness.Result) bool { return !undecided(res) || !res.Stalled() && !res.Slow() }

// undecided reports whether a judge could not judge, or did not find what it was to find.
func undecided(res harness.Result) bool {
	return res.Outcome == checker.Undecided || slices.ContainsFunc(res.Report.Results, func(r checker.Result) bool { return r.Verdict == checker.Unknown })
}

func once(t testing.TB, cfg harness.Config) (harness.Result, error) {
	t.Helper()
	res, err := harness.Run(context.Background(), cfg)
	if errors.Is(err, nemesis.ErrNoClocks) && os.Getenv("LOCKBENCH_REQUIRE_FAKETIME") != "1" {
		t.Skip(err)
	}
	if unfit, ok := errors.AsType[*harness.UnfitError](err); ok && len(cfg.Lock.Commands) > 0 {
		t.Skipf("optional: a newer server: %v", unfit)
	}
	return res, err
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

// TestGaps checks that a backend which cannot play a scenario says why.
func TestGaps(t *testing.T) {
	spec, err := libraries.Catalogue().Find("setnx-px-lua")
	if err != nil {
		t.Fatal(err)
	}
	s := scenarios.All()[0]
	s.Gaps = map[string]string{histories.BackendProcess: "it has no time machine"}
	var gap *scenarios.GapError
	if _, err := s.Config(spec, resource.None, harness.Process(), 0); !errors.As(err, &gap) || gap.Why != "it has no time machine" {
		t.Errorf("got %v, want a GapError", err)
	}
	if _, err := s.Config(spec, resource.None, harness.Embedded(), 0); err != nil {
		t.Error(err)
	}
}

// needNoFault are the locks that break under mere contention, with the pitfall.
func needNoFault() map[string]string {
	return map[string]string{
		"setnx-expire-void":          "P94: who is refused is not told",
		"setnx-expire-void-get-del":  "P94: who is refused is not told",
		"exists-set":                 "P03: two see no key, and both set it",
		"lua-uuid-one-try":           "P48: it never tries",
		"reentrant-hash-thread-id":   "P29: every process has a thread 1",
		"setnx-px-watch-misread":     "P10: it takes every release for a refusal",
		"set-get":                    "P90: who is refused has written over the holder's key",
		"extend-seconds":             "P74: an extend gives its key a thousandth of the time",
		"fenced-per-client":          "P77: each client counts its own tokens",
		"redsync-fail-fast":          "P27: a SET that is still on its way when an acquire is refused lands after the clean-up",
		"bsm-redislock-custom-token": "P55: one client's name is the beginning of another's",
	}
}

// TestContendWithoutFaults runs random load on every lock. Without faults and with
// sections much shorter than the lease most locks keep their promise; those that do not
// must be caught.
func TestContendWithoutFaults(t *testing.T) {
	for _, spec := range effort.Part(libraries.Catalogue(), 4) {
		t.Run(spec.Name, func(t *testing.T) {
			t.Parallel()
			cfg := contend(t, spec.Name, harness.Embedded(), 4, 5)
			flaw, caught := needNoFault()[spec.Name], 0
			seeds := uint64(effort.Count(2, 8))
			if flaw != "" { // it need not show in each
				seeds = 10
			}
			for cfg.Seed = 1; cfg.Seed <= seeds; cfg.Seed++ {
				res := run(t, cfg)
				switch {
				case flaw != "" && res.Report.Verdict != checker.Pass:
					caught++
				case flaw == "" && res.Report.Verdict != checker.Pass:
					t.Fatalf("seed %d: %v\n%s", cfg.Seed, res.Report.Verdict, explain(res))
				}
				if !res.Meta.Replayable && spec.Unseeded == "" {
					t.Errorf("seed %d cannot be replayed: %v", cfg.Seed, res.Meta.Notes)
				}
			}
			if flaw != "" && caught == 0 {
				t.Errorf("not caught in any seed: %s", flaw)
			}
		})
	}
}

func TestContendOnRealServers(t *testing.T) {
	locktest.NeedRedis(t)
	for _, lock := range []string{"setnx-px-lua", "redlock"} {
		t.Run(lock, func(t *testing.T) {
			t.Parallel()
			if res := asExpected(t, onProcesses(t, harness.Load{Clients: 4, Rounds: 5}, lock)); res.Report.Verdict != checker.Pass {
				t.Error(res.Report.Verdict)
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
	race, err := scenarios.Find("expired-del-setnx-race")
	if err != nil {
		t.Fatal(err)
	}
	for name, cfg := range map[string]harness.Config{
		// Its calls return before all servers have answered, and a rule may hold a command longer than that.
		"fail fast": scenario(t, race, scenarios.Case{Lock: "redsync-fail-fast"}, harness.Embedded()),
		"failover":  scenario(t, failover, failover.Broken(), harness.Embedded()),
		"redlock":   scenario(t, failover, scenarios.Case{Lock: "redlock"}, harness.Embedded()),
		"contend":   contend(t, "redlock", harness.Embedded(), 5, 5),
		// Each with what only random load has: a rate, keys, faults.
		"increment": workload(t, harness.Load{Workload: "increment", Clients: 4, Rate: 50, Limit: 5 * time.Second}, "setnx-px-lua", resource.None),
		"reentrant": workload(t, harness.Load{Workload: "reentrant", Clients: 4, Limit: 10 * time.Second, Nemesis: []string{"pause", "late"}}, "reentrant-hash", resource.None),
		"readwrite": workload(t, harness.Load{Workload: "readwrite", Clients: 5, Rounds: 10, Keys: 2}, "rw-hash", resource.None),
		"lottery":   workload(t, harness.Load{Workload: "lottery", Clients: 5, Limit: 10 * time.Second, Nemesis: []string{"pause", "restart"}}, "fenced", resource.Fence),
	} {
		t.Run(name, func(t *testing.T) {
			other := cfg
			cfg.Seed, other.Seed = 7, 8
			want, res := recorded(t, cfg)
			for _, procs := range []int{1, 2} {
				runtime.GOMAXPROCS(procs)
				var wg sync.WaitGroup
				for range effort.Count(4, 8) {
					wg.Go(func() {
						if got, _ := recorded(t, judgedBefore(cfg, res)); got != want {
							t.Errorf("GOMAXPROCS=%d: seed 7 gave other bytes: %s", procs, difference(want, got))
						}
					})
				}
				wg.Wait()
			}
			if got, _ := recorded(t, judgedBefore(other, res)); got == want {
				t.Error("seeds 7 and 8 gave the same bytes")
			}
		})
	}
}

// TestNothingIsLeftOfAFailedRun checks that a run which fails leaves no goroutine behind;
// TestCatalogue checks it of those that do not.
func TestNothingIsLeftOfAFailedRun(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	broken := contend(t, "setnx-px-lua", harness.Embedded(), 2, 1)
	broken.Workload = player.Script{Schedule: schedule.Schedule{Clients: 1, Steps: []schedule.Step{{Verb: schedule.Acquire, Who: []string{"Z"}}}}}
	if _, err := harness.Run(context.Background(), broken); err == nil || !strings.Contains(err.Error(), `"Z"`) {
		t.Errorf("a script with an unknown client: %v", err)
	}
}

func TestInterrupted(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	cfg := contend(t, "setnx-px-lua", harness.Embedded(), 4, 5)
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

// TestInterruptedWhileJudged: the history is kept, and nobody is told that judges found nothing.
func TestInterruptedWhileJudged(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cfg := contend(t, "setnx-px-lua", harness.Embedded(), 2, 2)
	cfg.Out = t.TempDir()
	cfg.Seams.Judge = func(ctx context.Context, events []histories.Event, opt checker.Options) checker.Report {
		cancel()
		return checker.Check(ctx, events, opt)
	}
	res, err := harness.Run(ctx, cfg)
	if !errors.Is(err, context.Canceled) || len(res.Events) == 0 || len(res.Results) > 0 || res.Meta.Phase != histories.PhaseRecorded {
		t.Errorf("error %v, %d events, %d results, phase %q", err, len(res.Events), len(res.Results), res.Meta.Phase)
	}
	if meta, events, err := histories.Load(res.Dir); err != nil || len(events) != len(res.Events) || meta.Phase != histories.PhaseRecorded {
		t.Errorf("kept: phase %q, %d events, %v", meta.Phase, len(events), err)
	}
	if _, err := os.Stat(filepath.Join(res.Dir, histories.ResultsFile)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("there are results: %v", err)
	}
}

func TestVacuousRunsAreUnknown(t *testing.T) {
	res := run(t, contend(t, "setnx-px-lua", harness.Embedded(), 1, 5))
	if res.Outcome != checker.Undecided || res.Report.Result(checker.StrictExclusion).Verdict != checker.Unknown {
		t.Errorf("one client alone: %v, %v", res.Outcome, res.Report.Results)
	}
}

func TestBadConfigs(t *testing.T) {
	good := contend(t, "setnx-px-lua", harness.Embedded(), 2, 1)
	for name, tc := range map[string]struct {
		spoil func(*harness.Config)
		want  string
	}{
		"ttl":     {func(c *harness.Config) { c.TTL = 0 }, "TTL"},
		"backend": {func(c *harness.Config) { c.Backend.Name, c.Backend.Open = "remote", nil }, "remote"},
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
	if _, err := scenarios.All()[0].Config(find(t, "setnx-px-lua"), resource.Fence, harness.Embedded(), 0); err == nil {
		t.Error("guard fence was accepted for a lock without tokens")
	}
}

// TestRunsAreKeptInPhases reads a finished run back.
func TestRunsAreKeptInPhases(t *testing.T) {
	s := scenarios.All()[0]
	cfg := scenario(t, s, s.Broken(), harness.Embedded())
	cfg.Out = t.TempDir()
	res := run(t, cfg)
	meta, events, err := histories.Load(res.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if meta.Phase != histories.PhaseChecked || meta.Lock != cfg.Lock.Name || len(events) != len(res.Events) {
		t.Errorf("read back %+v and %d events", meta, len(events))
	}
	if latest, err := os.Readlink(filepath.Join(filepath.Dir(res.Dir), histories.Latest)); err != nil || latest != filepath.Base(res.Dir) {
		t.Errorf("latest → %s, %v; want the run", latest, err)
	}
	results, err := os.ReadFile(filepath.Join(res.Dir, "results.json"))
	if err != nil || !bytes.Contains(results, []byte(`"deadlock-freedom"`)) {
		t.Errorf("results.json: %v\n%s", err, results)
	}
}

// all reports whether every property that is to fail was seen to.
func all(caught map[checker.Property]bool, want map[checker.Property]checker.Verdict) bool {
	for p, v := range want {
		if v == checker.Fail && !caught[p] {
			return false
		}
	}
	return true
}

func benchmark(b *testing.B, lock string, rounds int) {
	cfg := contend(b, lock, harness.Embedded(), 5, rounds)
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

// faultsFor is how long a load goes on under faults: about ten of each kind come in that time.
const faultsFor = 30 * time.Second

func underFaults(t testing.TB, lock string, guard resource.Guard, kinds ...string) harness.Config {
	t.Helper()
	return underFaultsFor(t, faultsFor, lock, guard, kinds...)
}

func underFaultsFor(t testing.TB, limit time.Duration, lock string, guard resource.Guard, kinds ...string) harness.Config {
	t.Helper()
	return workload(t, harness.Load{Clients: 5, Limit: limit, Nemesis: kinds}, lock, guard)
}

// TestRandomFaults checks that random faults find what they must in locks that cannot
// stand them, and accuse nobody else.
func TestRandomFaults(t *testing.T) {
	effort.Long(t)
	for name, tc := range map[string]struct {
		cfg  harness.Config
		want map[checker.Property]checker.Verdict
	}{
		"a pause outlives a lease": {
			underFaultsFor(t, time.Minute, "setnx-px-lua", resource.None, "pause"),
			map[checker.Property]checker.Verdict{checker.ResourceSafety: checker.Fail, checker.LeaseExclusion: checker.Pass},
		},
		"a fence saves the resource": {
			underFaults(t, "fenced", resource.Fence, "pause"),
			map[checker.Property]checker.Verdict{checker.ResourceSafety: checker.Pass, checker.LeaseExclusion: checker.Pass},
		},
		"a restart forgets the lock": {
			underFaultsFor(t, time.Minute, "setnx-px-lua", resource.None, "restart"),
			map[checker.Property]checker.Verdict{checker.LeaseExclusion: checker.Fail, checker.ResourceSafety: checker.Fail},
		},
		"a flush forgets the lock": {
			underFaultsFor(t, time.Minute, "setnx-px-lua", resource.None, "flush"),
			map[checker.Property]checker.Verdict{checker.LeaseExclusion: checker.Fail, checker.ResourceSafety: checker.Fail},
		},
		"an append-only file keeps the lock": {
			underFaults(t, "setnx-px-lua", resource.None, "restart-aof"),
			map[checker.Property]checker.Verdict{checker.LeaseExclusion: checker.Pass, checker.ResourceSafety: checker.Pass},
		},
		"a TTL after its death a server has nothing to forget": {
			underFaults(t, "redlock", resource.None, "restart-delayed"),
			map[checker.Property]checker.Verdict{checker.LeaseExclusion: checker.Pass, checker.ResourceSafety: checker.Pass},
		},
		"a power loss takes the lock": {
			underFaultsFor(t, time.Minute, "setnx-px-lua", resource.None, "power-loss"),
			map[checker.Property]checker.Verdict{checker.LeaseExclusion: checker.Fail, checker.ResourceSafety: checker.Fail},
		},
		"what cannot be written is not granted": {
			underFaults(t, "setnx-px-lua", resource.None, "oom"),
			map[checker.Property]checker.Verdict{checker.LeaseExclusion: checker.Pass, checker.ResourceSafety: checker.Pass},
		},
		"scripts that a server forgot are sent again": {
			underFaults(t, "setnx-px-lua", resource.None, "script-flush"),
			map[checker.Property]checker.Verdict{checker.LeaseExclusion: checker.Pass, checker.ResourceSafety: checker.Pass},
		},
		"a client with a wrong clock takes leases that it finds ended": {
			underFaultsFor(t, time.Minute, "setnx-timestamp-del", resource.None, "client-clock"),
			map[checker.Property]checker.Verdict{checker.LeaseExclusion: checker.Fail, checker.ResourceSafety: checker.Fail},
		},
		"so it does with GETSET, past its tolerance": {
			underFaultsFor(t, time.Minute, "getset", resource.None, "client-clock"),
			map[checker.Property]checker.Verdict{checker.LeaseExclusion: checker.Fail, checker.ResourceSafety: checker.Fail},
		},
		"and with a hash of timestamps": {
			underFaultsFor(t, time.Minute, "rw-hash-timestamp", resource.None, "client-clock"),
			map[checker.Property]checker.Verdict{checker.LeaseExclusion: checker.Fail, checker.ResourceSafety: checker.Fail},
		},
		"clients' clocks do not matter where the server counts": {
			underFaults(t, "setnx-px-lua", resource.None, "client-clock", "client-clock-rate"),
			map[checker.Property]checker.Verdict{checker.LeaseExclusion: checker.Pass, checker.ResourceSafety: checker.Pass},
		},
		"a server whose clock jumps ends leases": {
			underFaultsFor(t, time.Minute, "setnx-px-lua", resource.None, "clock"),
			map[checker.Property]checker.Verdict{checker.LeaseExclusion: checker.Fail, checker.ResourceSafety: checker.Fail},
		},
		"one replica does not matter to a majority": {
			underFaults(t, "redlock", resource.None, "failover", "replication"),
			map[checker.Property]checker.Verdict{checker.LeaseExclusion: checker.Pass, checker.ResourceSafety: checker.Pass},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			caught := map[checker.Property]bool{}
			for tc.cfg.Seed = 1; tc.cfg.Seed <= uint64(effort.Count(1, 3)) || tc.cfg.Seed <= 6 && !all(caught, tc.want); tc.cfg.Seed++ {
				res := run(t, tc.cfg)
				for p, want := range tc.want {
					got := res.Report.Result(p)
					caught[p] = caught[p] || got.Verdict == checker.Fail
					if want != checker.Fail && got.Verdict != want {
						t.Errorf("seed %d: %s is %v, want %v: %s", tc.cfg.Seed, p, got.Verdict, want, got.Story)
					}
				}
			}
			if !all(caught, tc.want) {
				t.Errorf("not caught in any of %d seeds: want %v", tc.cfg.Seed-1, tc.want)
			}
		})
	}
}

// TestAllFaultsTogether runs every fault at once: no run hangs, leaks or fails, and each
// can be repeated or says why not.
func TestAllFaultsTogether(t *testing.T) {
	effort.Long(t)
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	t.Run("all", func(t *testing.T) { // ends when the last of them has
		twice := func(name string, cfg harness.Config) {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				replays(t, cfg)
			})
		}
		for lock, seeds := range map[string][]uint64{"setnx-px-lua": {15, 16}, "redlock": {15}} {
			cfg := underFaults(t, lock, resource.None, nemesesOf(harness.Embedded())...)
			for _, cfg.Seed = range seeds {
				twice(fmt.Sprintf("contend/%s/%d", lock, cfg.Seed), cfg)
			}
		}
		for _, name := range harness.Workloads()[1:] {
			lock, err := harness.DefaultLock(name)
			if err != nil {
				t.Fatal(err)
			}
			cfg := workload(t, harness.Load{Workload: name, Clients: 5, Keys: 2, Limit: faultsFor, Nemesis: nemesesOf(harness.Embedded())}, lock, resource.None)
			cfg.Seed = 15
			twice(name, cfg)
		}
	})
}

// nemesesOf are the random faults that a backend can have.
func nemesesOf(backend harness.Backend) []string {
	var names []string
	for _, row := range harness.NemesisTable(backend) {
		if row.Gaps[backend.Name] == "" {
			names = append(names, row.Name)
		}
	}
	return names
}

func TestUnknownFaults(t *testing.T) {
	var unknown *catalogue.UnknownError
	_, err := harness.ForWorkload(harness.Load{Clients: 2, Nemesis: []string{"paus"}}, find(t, "redlock"), resource.None, harness.Embedded(), 0)
	if !errors.As(err, &unknown) || unknown.Nearest != "pause" {
		t.Errorf("got %v", err)
	}
	cfg, err := harness.ForWorkload(harness.Load{Clients: 2, Nemesis: []string{"clock"}}, find(t, "setnx-px-lua"), resource.None, harness.Embedded(), 0)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Nemesis[0].Unsupported = func(cluster.Cluster) error { return errors.New("no clock") }
	var needs *harness.NeedsError
	if _, err := harness.Run(context.Background(), cfg); !errors.As(err, &needs) || needs.Nemesis != "clock" {
		t.Errorf("a fault that the backend cannot have: %v", err)
	}
	cfg.Nemesis[0].Unsupported = func(cluster.Cluster) error { return nil }
	cfg.Nemesis[0].Try = func(context.Context, cluster.Cluster) error { return errors.New("not on this machine") }
	if _, err := harness.Run(context.Background(), cfg); !errors.As(err, &needs) || needs.Why.Error() != "not on this machine" {
		t.Errorf("a fault that this machine cannot have: %v", err)
	}
}
