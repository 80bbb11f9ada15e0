package harness_test

import (
	"testing"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/harness"
)

// TestManyKeysInVain checks that a run whose last client gets none of many keys asks for each of
// them, waits in vain for one alone, and is judged by that one.
func TestManyKeysInVain(t *testing.T) {
	const keys, ttl = 100, 3 * time.Second
	res := run(t, harness.Config{Test: harness.Test{
		Name: "vain", Lock: moodyFrom(t, "setnx-px-lua", 1, 1<<30, refuses), Keys: keys, TTL: ttl, Seed: 1,
		Workload: script(t, 1, `A acquire; A release`),
	}})
	if got := res.Report.Result(checker.DeadlockFreedom).Verdict; got != checker.Fail {
		t.Errorf("deadlock freedom %v, want a failure", got)
	}
	asked := map[string]bool{}
	for _, e := range res.Events {
		if e.Type == histories.Invoke && e.F == histories.Acquire {
			asked[e.Key] = true
		}
	}
	if len(asked) != keys {
		t.Errorf("%d keys were asked for, want %d", len(asked), keys)
	}
	if last := res.Events[len(res.Events)-1].Time; last < ttl || last > 4*ttl {
		t.Errorf("the run ended at %v, want one wait of TTL %v + slack", last, ttl)
	}
}
