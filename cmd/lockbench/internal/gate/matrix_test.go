package gate_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/cmd/lockbench/internal/gate"
	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/libraries"
	"github.com/lockbench/lockbench/internal/report"
	"github.com/lockbench/lockbench/locks"
)

// matrix is a small one that was really played.
func matrix(t testing.TB, opt gate.Options, names ...string) gate.Matrix {
	t.Helper()
	var specs []locks.Spec
	for _, name := range names {
		spec, err := libraries.Catalogue().Find(name)
		if err != nil {
			t.Fatal(err)
		}
		specs = append(specs, spec)
	}
	opt.Command = func(cfg harness.Config, _ string, _ time.Duration) string {
		return "lockbench run --scenario " + cfg.Name + " --lock " + cfg.Lock.Name
	}
	plan, err := gate.NewMatrix(opt, specs)
	if err != nil {
		t.Fatal(err)
	}
	res, err := plan.Play(t.Context(), 2, gate.Watch{})
	if err != nil {
		t.Fatal(err)
	}
	m, err := plan.MatrixOf(res, specs)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestMatrix(t *testing.T) {
	m := matrix(t, gate.Options{Only: []string{"P07", "P08", "P14", "P45"}, Seed: 1, Runs: 2}, "setnx", "setnx-px-del", "setnx-px-lua", "redlock", "rw-hash")
	want := map[string]gate.State{
		"P07 setnx":        gate.DoesNotApply, // its lease never ends
		"P07 setnx-px-del": gate.IsBroken, "P07 setnx-px-lua": gate.Held, "P07 redlock": gate.Held, "P07 rw-hash": gate.Held,
		"P08 setnx": gate.DoesNotApply, "P08 setnx-px-del": gate.IsBroken, "P08 setnx-px-lua": gate.Held, "P08 redlock": gate.Held, "P08 rw-hash": gate.Held,
		"P14 setnx": gate.OfClass, "P14 setnx-px-del": gate.OfClass, "P14 setnx-px-lua": gate.OfClass, "P14 redlock": gate.Held, "P14 rw-hash": gate.OfClass,
		"P45 setnx": gate.DoesNotApply, "P45 setnx-px-del": gate.DoesNotApply, "P45 setnx-px-lua": gate.DoesNotApply, "P45 redlock": gate.DoesNotApply, "P45 rw-hash": gate.Held,
	}
	for _, c := range m.Cells {
		name := c.ID + " " + c.Lock
		if c.State != want[name] {
			t.Errorf("%s is %s, want %s: %s", name, c.State, want[name], c.Reason)
		}
		switch c.State {
		case gate.IsBroken:
			if len(c.Violated) == 0 || c.Command != "lockbench run --scenario "+c.Scenario+" --lock "+c.Lock {
				t.Errorf("%s: broken by %v, shown by %q", name, c.Violated, c.Command)
			}
		case gate.OfClass:
			if len(c.Violated) == 0 {
				t.Errorf("%s: its class keeps nothing, and nothing is broken", name)
			}
		case gate.Held:
			if c.Reason != "" || c.Command != "" {
				t.Errorf("%s: held, %q %q", name, c.Reason, c.Command)
			}
		default:
			if c.Reason == "" {
				t.Errorf("%s is %s for no reason", name, c.State)
			}
		}
	}
	if len(m.Cells) != len(want) {
		t.Errorf("%d cells, want %d", len(m.Cells), len(want))
	}

	data, err := m.Marshal()
	if err != nil || !json.Valid(data) {
		t.Errorf("JSON: %v", err)
	}
	var markdown bytes.Buffer
	if err := m.Markdown(&markdown); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"              0014\n              7845\nsetnx         --o-\nsetnx-px-del  XXo-\n", // P07, P08, P14 and P45
		"\nredlock       ...-\n",
		"\nrw-hash       ..o.\n",
	} {
		if !strings.Contains(markdown.String(), line) {
			t.Errorf("want %q in:\n%s", line, markdown.String())
		}
	}
	for _, width := range []int{40, 80, 120} {
		var b bytes.Buffer
		if err := m.Text(&b, report.Style{Width: width}); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(strings.Join(strings.Fields(b.String()), " "), "20 cells: 2 broken, 4 broken as their class, 8 held, 6 not applicable, 0 unknown.") && width > 60 {
			t.Errorf("%d columns:\n%s", width, b.String())
		}
	}
}

// TestMatrixDoubts checks that a cell is held only if every run of it was, and broken if one
// was.
func TestMatrixDoubts(t *testing.T) {
	for name, tc := range map[string]struct {
		second checker.Verdict // of ownership in the second of two runs
		want   gate.State
	}{
		"held":    {checker.Pass, gate.Held},
		"unknown": {checker.Unknown, gate.NotKnown},
		"broken":  {checker.Fail, gate.IsBroken},
	} {
		m := matrix(t, gate.Options{Only: []string{"P08"}, Seed: 1, Runs: 2, Run: pretend(func(cfg harness.Config, v map[checker.Property]checker.Verdict) error {
			if cfg.Seed == 2 && cfg.Lock.Name == "setnx-px-lua" {
				v[checker.Ownership] = tc.second
			}
			return nil
		})}, "setnx-px-lua")
		if m.Cells[0].State != tc.want {
			t.Errorf("%s: %+v", name, m.Cells[0])
		}
	}
}
