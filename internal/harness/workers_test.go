package harness_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/docker"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/libraries"
	"github.com/lockbench/lockbench/internal/resource"
	"github.com/lockbench/lockbench/internal/testkit/dockertest"
	"github.com/lockbench/lockbench/internal/testkit/effort"
	"github.com/lockbench/lockbench/internal/testkit/locktest"
	"github.com/lockbench/lockbench/internal/worker"
	"github.com/lockbench/lockbench/scenarios"
)

const (
	// workerEnv makes the test binary a worker: "serve", or "die" after some requests.
	workerEnv = "LOCKBENCH_TEST_WORKER"
	// optionsEnv are its worker.Options, in JSON.
	optionsEnv = "LOCKBENCH_TEST_WORKER_OPTIONS"
)

func TestMain(m *testing.M) {
	in := io.Reader(os.Stdin)
	switch os.Getenv(workerEnv) {
	case "":
		os.Exit(inOwnState(m))
	case "die":
		in = io.MultiReader(io.LimitReader(in, 4000), iotest.ErrReader(errors.New("nothing more can be read")))
	}
	var opt worker.Options
	if said := os.Getenv(optionsEnv); said != "" {
		if err := json.Unmarshal([]byte(said), &opt); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	if err := worker.Serve(context.Background(), in, os.Stdout, libraries.Catalogue(), opt); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// inOwnState runs the tests where notes of runs on external servers are nobody else's.
func inOwnState(m *testing.M) int {
	dir, err := os.MkdirTemp("", "lockbench-test-state-")
	if err == nil {
		err = os.Setenv("XDG_STATE_HOME", dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	return m.Run()
}

// self is the command of a worker in Go.
func self(t testing.TB) []string {
	t.Helper()
	return renamed(t, worker.Options{})
}

// renamed is the command of a worker in Go that keeps its locks elsewhere.
func renamed(t testing.TB, opt worker.Options) []string {
	t.Helper()
	me, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	said, err := json.Marshal(opt)
	if err != nil {
		t.Fatal(err)
	}
	return []string{"/usr/bin/env", workerEnv + "=serve", optionsEnv + "=" + string(said), me}
}

// python is the command of the worker in Python.
func python(t testing.TB) []string {
	t.Helper()
	script, err := filepath.Abs("../../examples/python/worker.py")
	if err != nil {
		t.Fatal(err)
	}
	return []string{locktest.NeedPythonRedis(t), script}
}

func employ(t testing.TB, cfg harness.Config, command []string) harness.Config {
	t.Helper()
	cfg, err := cfg.WithWorkers(command)
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// TestWorkersGaps checks that a scenario which needs clients in our own process says so.
func TestWorkersGaps(t *testing.T) {
	for name, want := range map[string]string{"rw-same-millisecond": "the same millisecond", "getset-clock-skew": "machine's"} {
		s, err := scenarios.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := scenario(t, s, s.Broken(), harness.Process()).WithWorkers([]string{"worker"}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want an error about %q", name, err, want)
		}
	}
}

// TestPythonWorker finds in another language what is broken there, and only that.
func TestPythonWorker(t *testing.T) {
	locktest.NeedRedis(t)
	command := python(t)
	for _, name := range []string{"get-del-race", "gc-pause-lease-expiry"} {
		s, err := scenarios.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range s.Cases {
			if c.Guard == resource.Fence {
				continue // its locks issue no tokens
			}
			if c.Lock == "setnx-expire-void-get-del" {
				continue // it has no such lock
			}
			t.Run(fmt.Sprintf("%s/%v", name, c), func(t *testing.T) {
				t.Parallel()
				asExpected(t, employ(t, scenario(t, s, c, harness.Process()), command))
			})
		}
	}
}

// processesUnderFaults is random load on processes. The lease is short, for many leases to
// end.
func processesUnderFaults(t testing.TB, lock string, guard resource.Guard, kinds ...string) harness.Config {
	t.Helper()
	load := harness.Load{Clients: 4, Nemesis: kinds, Limit: 5 * time.Second}
	cfg, err := harness.ForWorkload(load, find(t, lock), guard, harness.Process(), 250*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	return employ(t, cfg, self(t))
}

// faults returns what was seen of the faults of a kind.
func faults(events []histories.Event, plan string, f histories.F) (seen []string, planned int) {
	for _, e := range events {
		if e.Process != histories.Nemesis || e.F != f {
			continue
		}
		if e.Type == histories.Invoke && e.Value == plan {
			planned++
		}
		if e.Type == histories.OK {
			seen = append(seen, e.Value)
		}
	}
	return seen, planned
}

// TestStoppedProcesses pauses clients by SIGSTOP: without a fence writes come too late, with
// one they are refused.
func TestStoppedProcesses(t *testing.T) {
	locktest.NeedRedis(t)
	stopped := regexp.MustCompile(`^process (\d+) is in state T; after SIGCONT process (\d+) is in state [A-Z]$`)
	for name, tc := range map[string]struct {
		lock  string
		guard resource.Guard
		want  checker.Verdict
	}{
		"no guard": {"setnx-px-lua", resource.None, checker.Fail},
		"fence":    {"fenced", resource.Fence, checker.Pass},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := processesUnderFaults(t, tc.lock, tc.guard, "pause")
			res := decides(t, cfg, checker.ResourceSafety, checker.LeaseExclusion)
			// A busy machine has fewer sections, and the pauses may miss them all: some seed hits one.
			for cfg.Seed++; tc.want == checker.Fail && res.Report.Result(checker.ResourceSafety).Verdict != tc.want && cfg.Seed < 5; cfg.Seed++ {
				res = decides(t, cfg, checker.ResourceSafety, checker.LeaseExclusion)
			}
			if got := res.Report.Result(checker.ResourceSafety); got.Verdict != tc.want {
				t.Errorf("resource safety is %v, want %v: %s", got.Verdict, tc.want, got.Story)
			}
			if got := res.Report.Result(checker.LeaseExclusion); got.Verdict != checker.Pass {
				t.Errorf("lease exclusion is %v: %s", got.Verdict, got.Story)
			}
			seen, planned := faults(res.Events, "client stands still (SIGSTOP)", "pause")
			if len(seen) == 0 || planned != len(seen) {
				t.Errorf("%d pauses by SIGSTOP of %d", planned, len(seen))
			}
			for _, s := range seen {
				if m := stopped.FindStringSubmatch(s); m == nil || m[1] != m[2] {
					t.Errorf("a pause was seen as %q", s)
				}
			}
		})
	}
}

// TestModesOfProcesses pauses clients that share, or hold a key several times, and kills
// them: nothing that the locks promise is broken, and the judges have seen enough.
func TestModesOfProcesses(t *testing.T) {
	locktest.NeedRedis(t)
	for workload, ls := range map[string][]string{
		"readwrite": {"rw-hash"},
		"reentrant": {"reentrant-hash", "redisson-style"},
	} {
		for _, lock := range ls {
			for seed := range uint64(effort.Count(2, 6)) {
				t.Run(fmt.Sprintf("%s/%s/%d", workload, lock, seed), func(t *testing.T) {
					t.Parallel() // most of the time is spent waiting for leases to end
					kinds := []string{"pause"}
					if seed%2 == 1 {
						kinds = []string{"pause", "crash"}
					}
					load := harness.Load{Workload: workload, Clients: 4, Nemesis: kinds, Limit: 4 * time.Second}
					cfg, err := harness.ForWorkload(load, find(t, lock), resource.None, harness.Process(), 250*time.Millisecond)
					if err != nil {
						t.Fatal(err)
					}
					cfg.Seed = seed
					kept := []checker.Property{checker.LeaseExclusion, checker.Ownership, checker.DeadlockFreedom, checker.Reentrancy}
					res := decides(t, employ(t, cfg, self(t)), kept...)
					for _, p := range kept {
						if got := res.Report.Result(p); got.Verdict == checker.Fail {
							t.Errorf("%s is %v: %s", p, got.Verdict, got.Story)
						}
					}
					if seen, _ := faults(res.Events, "", "pause"); len(seen) == 0 {
						t.Error("nobody was paused")
					}
					ops, err := histories.Pair(res.Events)
					if err != nil {
						t.Fatal(err)
					}
					granted := map[histories.Mode]bool{}
					for _, o := range ops {
						if o.Outcome() == histories.OK {
							granted[o.Invoke.Mode()] = true
						}
					}
					if mode := map[string]histories.Mode{"readwrite": histories.Shared, "reentrant": histories.Reentrant}[workload]; !granted[mode] {
						t.Errorf("no acquire of mode %q was granted", mode)
					}
				})
			}
		}
	}
}

// TestWorkerLacksWhatTheWorkloadNeeds checks that such a run fails before it begins.
func TestWorkerLacksWhatTheWorkloadNeeds(t *testing.T) {
	locktest.NeedRedis(t)
	for workload, tc := range map[string]struct{ lock, capability string }{
		"readwrite": {"rw-hash", "share"},
		"reentrant": {"reentrant-hash", "reenter"},
	} {
		load := harness.Load{Workload: workload, Clients: 2, Nemesis: []string{"pause"}}
		cfg, err := harness.ForWorkload(load, find(t, tc.lock), resource.None, harness.Process(), time.Second)
		if err != nil {
			t.Fatal(err)
		}
		command := []string{"/bin/sh", "-c", `read a; echo '{"id":1,"type":"ok","protocol":1,"can":["extend"]}'; read a; cat`}
		res, err := harness.Run(t.Context(), employ(t, cfg, command))
		want := fmt.Sprintf(`cannot run workload %s: its hello says that it can ["extend"], want %q among it`, workload, tc.capability)
		if err == nil || !strings.Contains(err.Error(), want) || len(res.Events) > 0 {
			t.Errorf("%d events, and %v, want %s", len(res.Events), err, want)
		}
	}
}

// TestWorkerLacksWhatTheScriptNeeds checks that a script whose clients ask for counts is not
// played with a worker that has none.
func TestWorkerLacksWhatTheScriptNeeds(t *testing.T) {
	locktest.NeedRedis(t)
	s, err := scenarios.Find("reentrant-thread-id-collision")
	if err != nil {
		t.Fatal(err)
	}
	command := []string{"/bin/sh", "-c", `read a; echo '{"id":1,"type":"ok","protocol":1,"can":["extend"]}'; read a; cat`}
	_, err = harness.Run(t.Context(), employ(t, scenario(t, s, s.Broken(), harness.Process()), command))
	if err == nil || !strings.Contains(err.Error(), `want "reenter" among it`) {
		t.Errorf("got %v", err)
	}
	if _, err := s.Config(find(t, "setnx-px-lua"), resource.None, harness.Process(), 0); err == nil || !strings.Contains(err.Error(), "cannot be re-entered") {
		t.Errorf("with a lock that cannot be re-entered: %v", err)
	}
}

// TestKilledProcesses kills clients. A lock with a TTL survives that; one without is held for
// ever.
func TestKilledProcesses(t *testing.T) {
	locktest.NeedRedis(t)
	killed := regexp.MustCompile(`^process (\d+) is gone; process (\d+) takes its place$`)
	for lock, want := range map[string]checker.Verdict{"setnx-px-lua": checker.Pass, "watchdog": checker.Pass, "setnx": checker.Fail} {
		t.Run(lock, func(t *testing.T) {
			t.Parallel()
			cfg := processesUnderFaults(t, lock, resource.None, "crash")
			res := decides(t, cfg, checker.DeadlockFreedom, checker.LeaseExclusion)
			for cfg.Seed < 10 && want == checker.Fail && res.Report.Result(checker.DeadlockFreedom).Verdict == checker.Pass {
				t.Logf("seed %d: nobody who held the lock was killed", cfg.Seed)
				cfg.Seed++
				res = decides(t, cfg, checker.DeadlockFreedom, checker.LeaseExclusion)
			}
			if got := res.Report.Result(checker.DeadlockFreedom); got.Verdict != want {
				t.Errorf("deadlock freedom is %v, want %v: %s", got.Verdict, want, got.Story)
			}
			if got := res.Report.Result(checker.LeaseExclusion); got.Verdict == checker.Fail {
				t.Errorf("lease exclusion is %v: %s", got.Verdict, got.Story)
			}
			checkCrashes(t, res.Events, "client dies (SIGKILL)", killed)
		})
	}
}

// TestSimulatedCrashes is about clients that live in our process.
func TestSimulatedCrashes(t *testing.T) {
	effort.Long(t)
	seen := regexp.MustCompile(`^[0-9]+ connections? broke; a new client takes its place$`)
	for lock, want := range map[string]checker.Verdict{
		"setnx-px-lua": checker.Pass, "watchdog": checker.Pass, "redlock": checker.Pass, "redsync": checker.Pass, "setnx": checker.Fail,
	} {
		t.Run(lock, func(t *testing.T) {
			t.Parallel()
			cfg := underFaults(t, lock, resource.None, "crash")
			for cfg.Seed = 1; cfg.Seed <= uint64(effort.Count(1, 3)); cfg.Seed++ {
				play := run
				if cfg.Seed == 1 {
					play = replays
				}
				res := play(t, cfg)
				if got := res.Report.Result(checker.DeadlockFreedom); got.Verdict != want {
					t.Errorf("seed %d: deadlock freedom is %v, want %v: %s", cfg.Seed, got.Verdict, want, got.Story)
				}
				for _, p := range []checker.Property{checker.StrictExclusion, checker.ResourceSafety} {
					if got := res.Report.Result(p); got.Verdict == checker.Fail {
						t.Errorf("seed %d: %s is %v: %s", cfg.Seed, p, got.Verdict, got.Story)
					}
				}
				checkCrashes(t, res.Events, "client dies (simulated)", seen)
			}
		})
	}
}

// checkCrashes checks that clients died, that what they held is not believed any more, and
// that others went on in their place.
func checkCrashes(t *testing.T, events []histories.Event, plan string, seen *regexp.Regexp) {
	t.Helper()
	all, planned := faults(events, plan, "kill-client")
	if len(all) == 0 || planned != len(all) {
		t.Errorf("%d crashes with plan %q, %d in all", planned, plan, len(all))
	}
	for _, s := range all {
		if !seen.MatchString(s) {
			t.Errorf("a crash was seen as %q", s)
		}
	}
	dead := map[int]bool{}
	again, crashes := false, 0
	for _, e := range events {
		if e.Process == histories.Nemesis {
			continue
		}
		if dead[e.Process] {
			t.Fatalf("process %d has crashed, and then %v", e.Process, e)
		}
		if e.F == histories.Crash {
			dead[e.Process] = true
			crashes++
		}
		again = again || dead[e.Worker] && e.Type == histories.OK && e.F == histories.Acquire
	}
	if crashes != len(all) {
		t.Errorf("%d crashes are recorded, want %d", crashes, len(all))
	}
}

// TestBrokenWorker checks that a worker that fails ends the run as a failure of the harness,
// and that its last words are kept.
func TestBrokenWorker(t *testing.T) {
	locktest.NeedRedis(t)
	cfg := contend(t, "setnx-px-lua", harness.Process(), 2, 5)
	cfg.Out = t.TempDir()
	for want, command := range map[string][]string{
		"no luck":                          {"/bin/sh", "-c", "echo no luck >&2; exit 3"},
		`wrote the line "hello"`:           {"/bin/sh", "-c", "echo hello; cat"},
		"/nowhere/worker":                  {"/nowhere/worker"},
		"no lock setnx-px-lua; try harder": {"/bin/sh", "-c", `read a; echo '{"id":1,"type":"ok","protocol":1}'; read a; echo '{"id":2,"type":"error","error":"no lock setnx-px-lua; try harder"}'; cat`},
	} {
		res, err := harness.Run(context.Background(), employ(t, cfg, command))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", command, err)
		}
		if want == "no luck" {
			kept, err := os.ReadFile(filepath.Join(res.Dir, "logs", "worker-A.log"))
			if err != nil || string(kept) != "no luck\n" {
				t.Errorf("kept %q, %v", kept, err)
			}
		}
	}
}

// TestWorkerDiesInTheMiddle is about a worker that serves for a while.
func TestWorkerDiesInTheMiddle(t *testing.T) {
	locktest.NeedRedis(t)
	cfg := contend(t, "setnx-px-lua", harness.Process(), 3, 1000)
	command := self(t)
	command[1] = workerEnv + "=die"
	_, err := harness.Run(context.Background(), employ(t, cfg, command))
	var broken *worker.BrokenError
	if !errors.As(err, &broken) || !strings.Contains(err.Error(), "ended by itself in the middle of the run (exit status 1)") {
		t.Errorf("got %v", err)
	}
}

func TestNoWorkersInVirtualTime(t *testing.T) {
	_, err := contend(t, "setnx-px-lua", harness.Embedded(), 2, 5).WithWorkers(self(t))
	if err == nil || !strings.Contains(err.Error(), "virtual time") {
		t.Errorf("got %v", err)
	}
}

// TestWorkersOnDocker stops a process that talks to a server in a container.
func TestWorkersOnDocker(t *testing.T) {
	dockertest.Turn(t)
	for _, name := range []string{"get-del-race", "gc-pause-lease-expiry"} {
		s, err := scenarios.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		asExpected(t, employ(t, scenario(t, s, s.Broken(), docker.Backend()), self(t)))
	}
}

// TestWorkersOnExternalServers checks that workers need no login of their own, and leave
// nothing.
func TestWorkersOnExternalServers(t *testing.T) {
	locktest.NeedRedis(t)
	s, err := scenarios.Find("gc-pause-lease-expiry")
	if err != nil {
		t.Fatal(err)
	}
	cfg, looks := onOwnServers(t, scenario(t, s, s.Broken(), harness.External(harness.Servers{})))
	asExpected(t, employ(t, cfg, self(t)))
	untouched(t, looks)
}
