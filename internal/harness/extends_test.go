package harness_test

import (
	"testing"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/resource"
)

// TestLoadExtends: under every random load clients extend leases where the lock offers it, and
// nowhere else, and what they were not told to hold they do not work under.
func TestLoadExtends(t *testing.T) {
	for _, name := range harness.Workloads() {
		lock, err := harness.DefaultLock(name)
		if err != nil {
			t.Fatal(err)
		}
		cfg := workload(t, harness.Load{Workload: name, Clients: 3}, lock, resource.None)
		n := 0
		for cfg.Seed = 1; n == 0 && cfg.Seed <= 4; cfg.Seed++ { // swarm draws whether they do
			res := run(t, cfg)
			if n = extends(res.Events); res.Outcome != checker.AsExpected {
				t.Errorf("%s on %s, seed %d: it is %v", name, lock, cfg.Seed, res.Outcome)
			}
		}
		if n == 0 {
			t.Errorf("%s on %s: nobody extends", name, lock)
		}
	}
	cfg := workload(t, harness.Load{Clients: 3}, "fair-queue", resource.None)
	cfg.Seed = 1
	if n := extends(run(t, cfg).Events); n != 0 {
		t.Errorf("%d extends of a lock that has none", n)
	}
}

// extends is how many leases were extended.
func extends(events []histories.Event) (n int) {
	for _, e := range events {
		if e.F == histories.Extend && e.Type == histories.OK {
			n++
		}
	}
	return n
}
