package harness_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/player"
)

// TestNothingIsKeptOfNothing checks that a run which failed before anything was recorded leaves no
// directory.
func TestNothingIsKeptOfNothing(t *testing.T) {
	for name, failed := range map[string]error{"not applicable": &player.UnplayableError{Why: "no such lock"}, "failed": errors.New("no such server")} {
		cfg := contend(t, "setnx-px-lua", harness.Embedded(), 2, 1)
		cfg.Out = filepath.Join(t.TempDir(), "store")
		cfg.Workload = failing{cfg.Workload, failed}
		res, err := harness.Run(t.Context(), cfg)
		if !errors.Is(err, failed) || harness.NotApplicable(err) != (name == "not applicable") || res.Dir != "" {
			t.Errorf("%s: kept in %q, %v", name, res.Dir, err)
		}
		if _, err := os.Stat(cfg.Out); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: the store: %v, want none", name, err)
		}
	}
}

// failing is a workload that fails before it begins.
type failing struct {
	player.Workload
	err error
}

func (f failing) Run(context.Context, *player.Stage) error { return f.err }
