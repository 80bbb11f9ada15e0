package harness_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/testkit/locktest"
)

// TestAppendOnlyFile: a lock that needs servers with a file gets them, or is not played.
func TestAppendOnlyFile(t *testing.T) {
	if res := run(t, contend(t, "setnx-px-waitaof", harness.Embedded(), 3, 3)); res.Report.Verdict != checker.Pass {
		t.Errorf("with a file: %v", explain(res))
	}
	without := contend(t, "setnx-px-waitaof", harness.Embedded(), 3, 3)
	without.Lock.AOF = false
	if res := run(t, without); res.Report.Verdict == checker.Pass {
		t.Error("without a file it is granted all the same")
	}
	locktest.NeedRedis(t)
	cfg, _ := onOwnServers(t, contend(t, "setnx-px-lua", harness.External(harness.Servers{}), 2, 1))
	cfg.Lock.AOF = true
	_, err := harness.Run(t.Context(), cfg)
	if unfit, ok := errors.AsType[*harness.UnfitError](err); !ok || !strings.Contains(unfit.Error(), "needs servers with an append-only file") {
		t.Errorf("on servers of the user's own: %v", err)
	}
}
