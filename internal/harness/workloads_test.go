package harness_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/catalogue"
	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/resource"
	"github.com/lockbench/lockbench/internal/testkit/effort"
	"github.com/lockbench/lockbench/internal/testkit/locktest"
	"github.com/lockbench/lockbench/internal/worker"
	"github.com/lockbench/lockbench/locks"
)

// workload is random load on embedded servers.
func workload(t testing.TB, load harness.Load, lock string, guard resource.Guard) harness.Config {
	t.Helper()
	return workloadFor(t, load, lock, guard, harness.Embedded(), 0)
}

// onProcesses is random load on real servers, with a lease that no section outlives, however
// busy the machine is.
func onProcesses(t testing.TB, load harness.Load, lock string) harness.Config {
	t.Helper()
	return workloadFor(t, load, lock, resource.None, harness.Process(), 5*time.Second)
}

func workloadFor(t testing.TB, load harness.Load, lock string, guard resource.Guard, backend harness.Backend, ttl time.Duration) harness.Config {
	t.Helper()
	cfg, err := harness.ForWorkload(load, find(t, lock), guard, backend, ttl)
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// trials are the random loads with a lock that keeps its promise under them, or one that
// does not and the property by which it must be caught.
func trials() []struct {
	load   harness.Load
	lock   string
	guard  resource.Guard
	breaks checker.Property // empty: all properties hold
} {
	increment := harness.Load{Workload: "increment", Clients: 5}
	reentrant := harness.Load{Workload: "reentrant", Clients: 5}
	readwrite := harness.Load{Workload: "readwrite", Clients: 5}
	lottery := harness.Load{Workload: "lottery", Clients: 5}
	under := func(l harness.Load, faults ...string) harness.Load {
		l.Nemesis, l.Limit = faults, 20*time.Second
		if l.Workload == "lottery" { // which is cheap
			l.Limit = time.Minute
		}
		return l
	}
	return []struct {
		load   harness.Load
		lock   string
		guard  resource.Guard
		breaks checker.Property
	}{
		{increment, "setnx-px-lua", resource.None, ""},
		{under(increment, "pause"), "fenced", resource.Fence, ""},
		{under(increment, "pause"), "setnx-px-del", resource.None, checker.CounterSafety},
		{increment, "exists-set", resource.None, checker.CounterSafety},

		{reentrant, "reentrant-hash", resource.None, ""},
		{reentrant, "redisson-style", resource.None, ""},
		{under(reentrant, "pause"), "reentrant-hash", resource.Epoch, ""},
		{reentrant, "reentrant-hash-thread-id", resource.None, checker.Reentrancy},
		{reentrant, "reentrant-hash-thread-id", resource.None, checker.StrictExclusion},

		{readwrite, "rw-hash", resource.None, ""},
		{under(readwrite, "pause"), "rw-hash", resource.Epoch, ""},
		{readwrite, "rw-hash-timestamp", resource.None, checker.StrictExclusion},
		{readwrite, "rw-two-key", resource.None, checker.StrictExclusion},

		{lottery, "setnx-px-lua", resource.None, ""},
		{lottery, "redlock", resource.None, ""},
		{under(lottery, "pause"), "fenced", resource.Fence, ""},
		{lottery, "exists-set", resource.None, checker.SingleWinner},
		{under(lottery, "restart"), "setnx-px-lua", resource.None, checker.SingleWinner},
		{under(lottery, "lost-reply"), "setnx-expire", resource.None, checker.DeadlockFreedom},
	}
}

// TestWorkloads checks that each random load acquits sound locks and catches broken ones.
// That a broken lock breaks in every single run is not to be had; in half of them it must.
func TestWorkloads(t *testing.T) {
	for _, tc := range trials() {
		name := strings.Join(append([]string{tc.load.Workload, tc.lock, tc.guard.String()}, tc.load.Nemesis...), "-") + "-" + string(tc.breaks)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := workload(t, tc.load, tc.lock, tc.guard)
			seeds, caught := uint64(effort.Count(4, 8)), 0
			if tc.load.Nemesis != nil { // a run with faults is a long one
				effort.Long(t)
				seeds = uint64(effort.Count(2, 8))
			}
			for cfg.Seed = 1; cfg.Seed <= seeds; cfg.Seed++ {
				res := run(t, cfg)
				if !res.Meta.Replayable {
					t.Errorf("seed %d cannot be replayed: %v", cfg.Seed, res.Meta.Notes)
				}
				if tc.breaks == "" && res.Outcome != checker.AsExpected {
					t.Fatalf("seed %d is %v:\n%s", cfg.Seed, res.Outcome, explain(res))
				}
				if tc.breaks != "" && res.Report.Result(tc.breaks).Verdict == checker.Fail {
					caught++
				}
			}
			if tc.breaks != "" && caught < int(seeds)/2 {
				t.Errorf("%s failed in %d of %d runs", tc.breaks, caught, seeds)
			}
		})
	}
}

// TestWorkloadsInPart plays some of each for a short time where the race detector looks, which does not see TestWorkloads.
func TestWorkloadsInPart(t *testing.T) {
	for i, tc := range trials() {
		if i%3 == 1 {
			tc.load.Limit, tc.load.Nemesis = 3*time.Second, []string{"pause", "lost-reply"}
			run(t, workload(t, tc.load, tc.lock, tc.guard))
		}
	}
}

// TestWorkloadsOnRealServers repeats what needs no fault: real time is dear.
func TestWorkloadsOnRealServers(t *testing.T) {
	locktest.NeedRedis(t)
	for name, tc := range map[string]struct {
		load   harness.Load
		lock   string
		breaks checker.Property
	}{
		"increment": {harness.Load{Workload: "increment", Clients: 4, Rounds: 5}, "setnx-px-lua", ""},
		"reentrant": {harness.Load{Workload: "reentrant", Clients: 4, Rounds: 5}, "reentrant-hash", ""},
		"thread id": {harness.Load{Workload: "reentrant", Clients: 5, Rounds: 20}, "reentrant-hash-thread-id", checker.Reentrancy},
		"readwrite": {harness.Load{Workload: "readwrite", Clients: 4, Rounds: 5, Keys: 2}, "rw-hash", ""},
		"two keys":  {harness.Load{Workload: "readwrite", Clients: 5, Rounds: 20}, "rw-two-key", checker.StrictExclusion},
		"lottery":   {harness.Load{Workload: "lottery", Clients: 4, Rounds: 5}, "setnx-px-lua", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := onProcesses(t, tc.load, tc.lock)
			if tc.breaks == "" {
				asExpected(t, cfg)
			} else if got := decides(t, cfg, tc.breaks).Report.Result(tc.breaks); got.Verdict != checker.Fail {
				t.Errorf("%+v", got)
			}
		})
	}
}

// TestKeys checks that clients use all keys, that each key has a register, an end and an
// audit of its own, and that a lock that breaks on several keys is caught as on one.
func TestKeys(t *testing.T) {
	cfg := workload(t, harness.Load{Workload: "increment", Clients: 6, Keys: 3}, "setnx-px-lua", resource.None)
	cfg.Seed = 1
	res := run(t, cfg)
	if res.Outcome != checker.AsExpected || res.Meta.Keys != 3 {
		t.Fatalf("%v, %d keys:\n%s", res.Outcome, res.Meta.Keys, explain(res))
	}
	prober := cfg.Workload.Clients()
	incremented, last := map[string]int{}, map[string]bool{}
	for _, e := range res.Events {
		switch {
		case e.F == histories.Incr && e.Type == histories.OK:
			incremented[e.Key]++
		case e.F == histories.Read && e.Type == histories.OK && e.Worker == prober:
			last[e.Key] = true
		}
	}
	for _, key := range []string{"orders/42/1", "orders/42/2", "orders/42/3"} {
		if incremented[key] == 0 || !last[key] {
			t.Errorf("%s: %d increments, looked at in the end: %v", key, incremented[key], last[key])
		}
	}
	if len(incremented) != 3 {
		t.Errorf("increments by key: %v", incremented)
	}

	broken := workload(t, harness.Load{Workload: "readwrite", Clients: 8, Keys: 2}, "rw-two-key", resource.None)
	broken.Seed = 1
	if got := run(t, broken).Report.Result(checker.StrictExclusion); got.Verdict != checker.Fail {
		t.Errorf("two keys hide that readers delete readers: %+v", got)
	}

	orphans := workload(t, harness.Load{Workload: "lottery", Clients: 5, Keys: 3, Nemesis: []string{"lost-reply"}}, "setnx-expire", resource.None)
	for orphans.Seed = 1; orphans.Seed <= 10; orphans.Seed++ {
		if got := run(t, orphans).Report.Result(checker.DeadlockFreedom); strings.Contains(got.Story, "the key orders/42/") {
			return
		}
	}
	t.Error("no key without TTL was found on any of three keys")
}

// TestRate checks that rounds begin as often as asked for, of all clients together.
func TestRate(t *testing.T) {
	const rate, limit = 20, 30 * time.Second
	for _, name := range []string{"contend", "lottery"} {
		cfg := workload(t, harness.Load{Workload: name, Clients: 4, Rate: rate, Limit: limit, Keys: 100}, "setnx-px-lua", resource.None)
		cfg.Seed = 1
		res := run(t, cfg)
		rounds := 0
		for _, e := range res.Events {
			// With so many keys hardly anybody is refused, and a round is one acquire.
			if e.F == histories.Acquire && e.Type == histories.Invoke && e.Worker < 4 {
				rounds++
			}
		}
		if want := int(rate * limit.Seconds()); rounds < want*8/10 || rounds > want*12/10 {
			t.Errorf("%s: %d rounds in %v, want about %d", name, rounds, limit, want)
		}
		if res.Meta.Rate != rate {
			t.Errorf("recorded rate %v", res.Meta.Rate)
		}
	}
}

// TestWorkloadNeeds checks that a lock that cannot do what the load asks for is refused, and
// that those which can are named.
func TestWorkloadNeeds(t *testing.T) {
	for name, want := range map[string]string{
		"reentrant": "workload reentrant needs a lock that can be re-entered, and setnx does not; use one of renew-naive, renew-naive-early, reentrant-local, reentrant-hash, ",
		"readwrite": "workload readwrite needs a lock that has readers and writers, and setnx does not; use one of rw-two-key, rw-hash-timestamp, rw-hash",
	} {
		_, err := harness.ForWorkload(harness.Load{Workload: name, Clients: 2}, find(t, "setnx"), resource.None, harness.Embedded(), 0)
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %s…", err, want)
		}
	}
	// Of a worker that does not say that it can, no other lock is the remedy, and its own least of all.
	silent, own := find(t, "rw-hash"), locks.Spec{Name: "mine", Masters: 1}
	silent.ReadWrite = false
	for name, tc := range map[string]struct {
		lock locks.Spec
		can  string
	}{"readwrite": {silent, worker.CanShare}, "reentrant": {own, worker.CanReenter}} {
		_, err := harness.ForWorkload(harness.Load{Workload: name, Clients: 2}, tc.lock, resource.None, harness.Process(), 0)
		if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("if it is, %q has to be in the list", tc.can)) || strings.Contains(err.Error(), "use one of") {
			t.Errorf("got %v, want that the hello has to name %s", err, tc.can)
		}
	}
	var unknown *catalogue.UnknownError
	_, err := harness.ForWorkload(harness.Load{Workload: "lotery", Clients: 2}, find(t, "setnx"), resource.None, harness.Embedded(), 0)
	if !errors.As(err, &unknown) || unknown.Nearest != "lottery" {
		t.Errorf("got %v", err)
	}
	for _, name := range harness.Workloads() {
		lock, err := harness.DefaultLock(name)
		if err != nil || harness.WorkloadTitle(name) == "" {
			t.Errorf("workload %s: %v, title %q", name, err, harness.WorkloadTitle(name))
		}
		if !find(t, lock).Sound {
			t.Errorf("workload %s: %s is not sound", name, lock)
		}
	}
}

// TestNothingOfTheKind checks that a run in which nothing happened of what the load is
// about is unknown.
func TestNothingOfTheKind(t *testing.T) {
	for name, property := range map[string]checker.Property{
		"increment": checker.CounterSafety, "lottery": checker.SingleWinner, "reentrant": checker.Reentrancy, "readwrite": checker.StrictExclusion,
	} {
		lock, err := harness.DefaultLock(name)
		if err != nil {
			t.Fatal(err)
		}
		cfg := workload(t, harness.Load{Workload: name, Clients: 1, Rounds: 3}, lock, resource.None)
		if res := run(t, cfg); res.Outcome != checker.Undecided || res.Report.Result(property).Verdict != checker.Unknown {
			t.Errorf("%s by one client alone: %v, %+v", name, res.Outcome, res.Report.Result(property))
		}
	}
}
