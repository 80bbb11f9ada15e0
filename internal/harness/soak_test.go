package harness_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/libraries"
	"github.com/lockbench/lockbench/internal/resource"
	"github.com/lockbench/lockbench/internal/testkit/effort"
)

// runsEnv is how many random runs TestRandomRuns makes; make soak sets it.
const runsEnv = "LOCKBENCH_RANDOM_RUNS"

// TestRandomRuns composes all faults under a lock, a guard and a load that the seed draws.
// No run may fail, hang or leave a goroutine behind, and each gives the same bytes again
// or says why it may not.
func TestRandomRuns(t *testing.T) {
	runs := effort.Count(10, 100)
	if s := os.Getenv(runsEnv); s != "" {
		var err error
		if runs, err = strconv.Atoi(s); err != nil || runs < 1 {
			t.Fatalf("%s is %q, want a number of runs above 0", runsEnv, s)
		}
	}
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	same, excused := 0, 0
	for seed := range uint64(runs) {
		cfg, what := randomRun(t, seed)
		runtime.GOMAXPROCS(1)
		once, res, err := keptRun(t, cfg)
		runtime.GOMAXPROCS(2)
		again, _, err2 := keptRun(t, judgedBefore(cfg, res))
		switch {
		case err != nil || err2 != nil:
			t.Errorf("seed %d: %s: %v", seed, what, errors.Join(err, err2))
		case !res.Meta.Replayable && len(res.Meta.Notes) == 0:
			t.Errorf("seed %d: %s cannot be replayed and does not say why", seed, what)
		case res.Meta.Replayable && once != again:
			t.Errorf("seed %d: %s gave other bytes the second time: %s", seed, what, difference(once, again))
		case res.Meta.Replayable:
			same++
		default:
			excused++
			t.Logf("seed %d: %s: %v", seed, what, res.Meta.Notes)
		}
	}
	t.Logf("%d runs, of which %d gave the same bytes twice and %d said why they may not", runs, same, excused)
}

// randomRun is random load under all faults, as a seed draws it, and its description.
func randomRun(t *testing.T, seed uint64) (cfg harness.Config, what string) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 0))
	all := libraries.Catalogue()
	lock := all[r.IntN(len(all))]
	var guards []resource.Guard
	for _, g := range resource.Guards() {
		if g.Supports(lock) == nil {
			guards = append(guards, g)
		}
	}
	guard := guards[r.IntN(len(guards))]
	load := harness.Load{
		Clients: 2 + r.IntN(5), Limit: time.Duration(10+r.IntN(50)) * time.Second,
		Nemesis: nemesesOf(harness.Embedded()),
	}
	if r.IntN(2) == 0 {
		load.Rate = float64(10 + r.IntN(90))
	}
	names := harness.Workloads()
	load.Workload, load.Keys = names[r.IntN(len(names))], 1+r.IntN(3)
	cfg, err := harness.ForWorkload(load, lock, guard, harness.Embedded(), 0)
	if err != nil { // not every lock has readers, or can be re-entered
		load.Workload = ""
		cfg, err = harness.ForWorkload(load, lock, guard, harness.Embedded(), 0)
	}
	if err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	cfg.Seed = seed
	return cfg, fmt.Sprintf("%s on %s with guard %v, %d clients on %d keys for %v", cfg.Name, lock.Name, guard, load.Clients, load.Keys, load.Limit)
}
