package harness_test

import (
	"testing"
	"time"

	"github.com/lockbench/lockbench/internal/harness"
)

// TestTimeoutReplays: the read and the call that wait for a server's answer have one deadline, and a run in which it passes leaves the
// same bytes each time.
func TestTimeoutReplays(t *testing.T) {
	cfg := harness.Config{Test: harness.Test{
		Name: "timeout", Lock: find(t, "fenced-after"), TTL: 3 * time.Second, Seed: 1, Faults: true,
		Workload: script(t, 2, `at A.1 SCRIPT#1 request: hold; A acquire &; wait held A; start stall on 1; let-go A &; sleep 8T; wait done A`),
	}, Output: harness.Output{CommandLog: true}}
	first, _ := recorded(t, cfg)
	for range 20 {
		if again, _ := recorded(t, cfg); again != first {
			t.Fatalf("other bytes: %s", difference(first, again))
		}
	}
}
