package harness_test

import (
	"slices"
	"testing"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/harness"
)

// TestLetGoOfABrokenConnection: a release that was held up does not reach the server when its connection has ended meanwhile. Letting
// it go says so, and waits for no answer.
func TestLetGoOfABrokenConnection(t *testing.T) {
	for _, breaks := range []string{"start partition A", "start restart; stop restart"} {
		res, err := harness.Run(t.Context(), harness.Config{Test: harness.Test{
			Name: "let-go", Lock: find(t, "setnx-px-lua"), TTL: 3 * time.Second, Seed: 1, Faults: true,
			Workload: script(t, 2, `at A frees: hold; A acquire; A release &; wait held A; `+breaks+`; wait done A; let-go A; B acquire; B release`),
		}, Output: harness.Output{CommandLog: true}})
		if err != nil {
			t.Errorf("%s: %v", breaks, err)
		}
		if !slices.ContainsFunc(res.Events, func(e histories.Event) bool { return e.F == histories.Missed }) {
			t.Errorf("%s: nothing says that what was held up did not go on", breaks)
		}
	}
}
