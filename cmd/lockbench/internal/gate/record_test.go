package gate_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/cmd/lockbench/internal/gate"
	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/scenarios"
)

// TestTrackRecord follows one page through several gates.
func TestTrackRecord(t *testing.T) {
	file := filepath.Join(t.TempDir(), "track-record.md")
	update := func(commit string, opt gate.Options) string {
		t.Helper()
		opt.Seed = 1
		opt.Command = func(cfg harness.Config, _ string, _ time.Duration) string {
			return fmt.Sprintf("lockbench run --scenario %s --lock %s", cfg.Name, cfg.Lock.Name)
		}
		data, err := gate.TrackRecord(file, play(t, opt), scenarios.All(), commit)
		if err == nil {
			err = gate.WriteFile(file, data)
		}
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	row := func(page, id, lock string) string {
		for line := range strings.Lines(page) {
			if strings.HasPrefix(line, "| "+id+" | `"+lock+"` |") {
				return strings.TrimSpace(line)
			}
		}
		return ""
	}
	two := []string{"P07", "P55", "P62"}

	page := update("", gate.Options{Only: two, Run: pretend(nil)})
	p07 := row(page, "P07", "setnx-px-del")
	if !strings.Contains(p07, "| A 4.3, B, D |") || !strings.Contains(p07, "`lockbench run --scenario delete-without-check --lock setnx-px-del` | – |") {
		t.Errorf("without a commit: %s", p07)
	}
	if got := row(page, "P55", "bsm-redislock-custom-token"); got == "" || !strings.Contains(page, "bsm/redislock v0.9.4") {
		t.Errorf("a real library: %q in\n%s", got, page)
	}

	if got := row(page, "P62", "rueidislock"); got != "" {
		t.Errorf("a real library that is no case: %q in\n%s", got, page)
	}

	first := update("aaaa111", gate.Options{Only: two, Run: pretend(nil)})
	if got := row(first, "P07", "setnx-px-del"); !strings.HasSuffix(got, "| `aaaa111` |") {
		t.Errorf("at a commit: %s", got)
	}
	if again := update("", gate.Options{Only: two, Run: pretend(nil)}); again != first {
		t.Errorf("the same results changed the page:\n%s", again)
	}
	// What is not played, or does not come out as expected, keeps the commit at which it did.
	some := update("bbbb222", gate.Options{Only: []string{"P55"}, Run: pretend(nil)})
	if got := row(some, "P07", "setnx-px-del"); !strings.HasSuffix(got, "| `aaaa111` |") {
		t.Errorf("P07 was not played: %s", got)
	}
	if got := row(some, "P55", "bsm-redislock-custom-token"); !strings.HasSuffix(got, "| `bbbb222` |") {
		t.Errorf("P55 was played: %s", got)
	}
	lost := update("cccc333", gate.Options{Only: two, Run: spoiled("setnx-px-del", verdicts{checker.Ownership: checker.Pass})})
	if got := row(lost, "P07", "setnx-px-del"); !strings.HasSuffix(got, "| `aaaa111` |") {
		t.Errorf("P07 was not reproduced: %s", got)
	}
	// What changes shows, whatever the commit: this is what CI looks for.
	if changed := update("", gate.Options{Only: two, Run: pretend(func(cfg harness.Config, v map[checker.Property]checker.Verdict) error {
		if cfg.Lock.Name == "setnx-px-del" {
			cfg.Want[checker.Reentrancy], v[checker.Reentrancy] = checker.Fail, checker.Fail
		}
		return nil
	})}); changed == lost || !strings.Contains(changed, "reentrancy") {
		t.Error("another violation does not show")
	}
}
