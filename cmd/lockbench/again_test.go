package main

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/player"
	"github.com/lockbench/lockbench/internal/resource"
)

// onServers is a run of a scenario on real servers.
func onServers(f *runFlags) harness.Config {
	f.guard, f.backend = resource.None.String(), histories.BackendProcess
	cfg := harness.Config{Test: harness.Test{TTL: time.Second}}
	cfg.Backend, cfg.Lock.Masters = harness.Process(), 1
	return cfg
}

// TestSpoiltRuns checks which runs are played again.
func TestSpoiltRuns(t *testing.T) {
	still := harness.Result{Events: []histories.Event{{Process: histories.Nemesis, F: histories.Stall, TTL: time.Second}}}
	still.Outcome = checker.Undecided
	unknown := harness.Result{}
	unknown.Outcome = checker.Undecided
	unlike := still
	unlike.Outcome = checker.Unexpected
	late := &player.StepError{Err: errors.New("late")}
	for name, tc := range map[string]struct {
		flags runFlags
		res   harness.Result
		err   error
		want  bool
	}{
		"it stood still":            {runFlags{scenario: "P07", lock: "setnx-px-lua"}, still, nil, true},
		"it is unknown":             {runFlags{scenario: "P07", lock: "setnx-px-lua"}, unknown, nil, true},
		"unknown of another lock":   {runFlags{scenario: "P07", worker: "python3 mine.py"}, unknown, nil, false},
		"something fails":           {runFlags{scenario: "P07", lock: "setnx-px-lua"}, unlike, nil, false},
		"random load":               {runFlags{workload: "contend", lock: "setnx-px-lua"}, still, nil, false},
		"a late step":               {runFlags{scenario: "P07", lock: "setnx-px-lua"}, harness.Result{}, late, true},
		"a step for other locks":    {runFlags{scenario: "P07", worker: "python3 mine.py"}, harness.Result{}, late, false},
		"a step that never comes":   {runFlags{scenario: "P07", lock: "setnx-px-lua"}, harness.Result{}, &player.StepError{Err: &player.UnplayableError{Why: "no renewal"}}, false},
		"a lock that may wait":      {runFlags{scenario: "P07", worker: "python3 mine.py"}, harness.Result{}, &player.StepError{Err: &player.UnplayableError{Why: "it waits", Slow: true}}, true},
		"a server that did not run": {runFlags{scenario: "P07", lock: "setnx-px-lua"}, harness.Result{}, errors.New("no redis-server"), false},
	} {
		if got := tc.flags.spoilt(onServers(&tc.flags), tc.res, tc.err); got != tc.want {
			t.Errorf("%s: %v, want %v", name, got, tc.want)
		}
	}
}

// TestAgainWithLongerLeases checks that the command of a run with longer leases names them, and that a lease that was asked for stays.
func TestAgainWithLongerLeases(t *testing.T) {
	for name, tc := range map[string]struct {
		asked, lease time.Duration
		n            int
		flag         bool
	}{
		"once":      {0, time.Second, 1, false},
		"twice":     {0, 2 * time.Second, 2, true},
		"asked for": {time.Second, time.Second, 2, true},
	} {
		f := &runFlags{scenario: "P07", lock: "setnx-px-lua", ttl: tc.asked}
		planned := onServers(f)
		planned.Command = f.replay(0)
		cfg := f.again(planned, tc.n)
		if has := strings.Contains(cfg.Command, "--ttl "+tc.lease.String()); cfg.TTL != tc.lease || has != tc.flag {
			t.Errorf("%s: leases of %v by %q, want %v", name, cfg.TTL, cfg.Command, tc.lease)
		}
	}
}
