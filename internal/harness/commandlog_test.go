package harness_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/resource"
	"github.com/lockbench/lockbench/internal/testkit/effort"
)

// A lock that sends nothing, as one that gives up before its first try, leaves a tape with
// nothing on it.
func TestCommandsOfALockThatSendsNone(t *testing.T) {
	cfg := workload(t, harness.Load{Clients: 2, Rounds: 5}, "lua-uuid-one-try", resource.None)
	cfg.Out = t.TempDir()
	res, err := harness.Run(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	tape, err := os.ReadFile(filepath.Join(res.Dir, histories.CommandsFile))
	if err != nil || len(tape) > 0 || len(res.Exchanges) > 0 {
		t.Errorf("kept: %q, %v", tape, err)
	}
}

// What crosses the wire is kept of random load as of a scenario, up to a length, and what
// is missing is told.
func TestCommandsOfRandomLoad(t *testing.T) {
	effort.Long(t)
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
