package harness_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/harness"
)

// What tests share that run one seed again and again.

// replays runs cfg, and unless that run says that it may not replay, again: both must leave
// the same bytes. It returns the first.
func replays(t testing.TB, cfg harness.Config) harness.Result {
	t.Helper()
	once, res := recorded(t, cfg)
	if !res.Meta.Replayable {
		if len(res.Meta.Notes) == 0 {
			t.Errorf("seed %d cannot be replayed and does not say why", cfg.Seed)
		}
		return res
	}
	if again, _ := recorded(t, judgedBefore(cfg, res)); once != again {
		t.Errorf("seed %d gave other bytes the second time: %s", cfg.Seed, difference(once, again))
	}
	return res
}

// judgedBefore is cfg whose run is not judged, and gets the verdicts of another: of a run
// that is repeated its bytes are compared, and judging it would take most of the time.
func judgedBefore(cfg harness.Config, res harness.Result) harness.Config {
	cfg.Seams.Judge = func(context.Context, []histories.Event, checker.Options) checker.Report { return res.Report }
	return cfg
}

// recorded runs cfg and returns what it left on disk. It may be called by any goroutine.
func recorded(t testing.TB, cfg harness.Config) (string, harness.Result) {
	t.Helper()
	left, res, err := keptRun(t, cfg)
	if err != nil {
		t.Errorf("seed %d: %v", cfg.Seed, err)
	}
	return left, res
}

// keptRun runs cfg and returns what it left in history.jsonl and commands.jsonl.
func keptRun(t testing.TB, cfg harness.Config) (string, harness.Result, error) {
	t.Helper()
	cfg.Out = t.TempDir()
	res, err := harness.Run(context.Background(), cfg)
	history, herr := os.ReadFile(filepath.Join(res.Dir, histories.EventsFile))
	if herr != nil || len(history) == 0 {
		t.Errorf("history: %d bytes, %v", len(history), herr)
	}
	commands, cerr := os.ReadFile(filepath.Join(res.Dir, histories.CommandsFile))
	if cerr != nil && cfg.CommandLog {
		t.Error(cerr)
	}
	return string(history) + string(commands), res, err
}

// difference shows the first lines in which two records differ, and the one before.
func difference(a, b string) string {
	as, bs := strings.Split(a, "\n"), strings.Split(b, "\n")
	at := 0
	for at < len(as) && at < len(bs) && as[at] == bs[at] {
		at++
	}
	lines := func(s []string) string { return strings.Join(s[max(0, min(at, len(s))-1):min(len(s), at+3)], "\n") }
	return fmt.Sprintf("line %d\n%s\nand\n%s", at+1, lines(as), lines(bs))
}
