package main

import (
	"errors"
	"io"
	"testing"

	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/player"
	"github.com/lockbench/lockbench/internal/report"
	"github.com/lockbench/lockbench/internal/resource"
	"github.com/lockbench/lockbench/internal/schedule"
)

// TestUnplayedSteps checks how a run ends of which a step could not be played: nothing is known of a lock that
// the scenario was not written for, as the gate says, too; with one of its own locks lockbench has failed.
func TestUnplayedSteps(t *testing.T) {
	step := func(why error) error {
		return &player.StepError{N: 3, Step: schedule.Step{Verb: schedule.Audit}, Err: why}
	}
	late := step(errors.New("it does not"))
	for name, tc := range map[string]struct {
		flags runFlags
		err   error
		want  int
	}{
		"its own lock":                {runFlags{scenario: "P14", lock: "setnx-px-lua"}, late, exitHarness},
		"by its name":                 {runFlags{scenario: "failover-async-repl", lock: "setnx-px-lua"}, late, exitHarness},
		"its own lock, as a process":  {runFlags{scenario: "P14", lock: "setnx-px-lua", worker: workerSelf}, late, exitHarness},
		"its own lock, with a remedy": {runFlags{scenario: "P18", lock: "setnx-px-lua", remedy: "min-replicas"}, late, exitHarness},
		"another lock":                {runFlags{scenario: "P14", lock: "setnx"}, late, exitUnknown},
		"another guard":               {runFlags{scenario: "P14", lock: "setnx-px-lua", guard: "epoch"}, late, exitUnknown},
		"a worker of its own lock":    {runFlags{scenario: "P14", lock: "setnx-px-lua", worker: "python3 mine.py"}, late, exitUnknown},
		"a worker's lock":             {runFlags{scenario: "P14", worker: "python3 mine.py"}, late, exitUnknown},
		"it never comes there":        {runFlags{scenario: "P14", lock: "setnx"}, step(&player.UnplayableError{Why: "no renewal"}), exitUnfit},
		"a server died":               {runFlags{scenario: "P14", lock: "setnx"}, errors.Join(late, &harness.DeathError{Node: "master"}), exitHarness},
		"what is no step":             {runFlags{scenario: "P14", lock: "setnx"}, errors.New("no redis-server"), exitHarness},
		"random load, which has none": {runFlags{workload: "contend", lock: "setnx"}, late, exitHarness},
	} {
		if tc.flags.guard == "" {
			tc.flags.guard = resource.None.String()
		}
		var exit *exitError
		if err := tc.flags.failed(report.Run{}, tc.err, nil, io.Discard); !errors.As(err, &exit) || exit.code != tc.want || !errors.Is(err, tc.err) {
			t.Errorf("%s: %v, want exit code %d", name, err, tc.want)
		}
	}
}
