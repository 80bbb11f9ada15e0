package harness_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/harness"
	"github.com/lockbench/lockbench/resource"
)

// What crosses the wire is kept of random load as of a scenario, up to a length, and what
// is missing is told.
func TestCommandsOfRandomLoad(t *testing.T) {
	for rounds, whole := range map[int]bool{5: true, 1000: false} {
		res, err := harness.Run(t.Context(), workload(t, harness.Load{Clients: 8, Rounds: rounds}, "setnx-px-spin", resource.None))
		if err != nil {
			t.Fatal(err)
		}
		told := slices.ContainsFunc(res.Meta.Notes, func(n string) bool {
			return strings.Contains(n, "commands that crossed the wire the first 50000 are kept")
		})
		if n := len(res.Exchanges); whole && n == 0 || !whole && n != 50_000 || told == whole {
			t.Errorf("%d rounds: %d commands are kept, notes %q", rounds, n, res.Meta.Notes)
		}
	}
}
