package main

import (
	"strings"
	"testing"

	"github.com/lockbench/lockbench/cmd/lockbench/internal/demo"
	"github.com/lockbench/lockbench/internal/libraries"
	"github.com/lockbench/lockbench/scenarios"
)

func TestScenarioNamed(t *testing.T) {
	for name, want := range map[string]string{
		"P07": "delete-without-check", "p7": "delete-without-check", "7": "delete-without-check",
		"delete-without-check": "delete-without-check", "get-del": "get-del-race",
	} {
		if s, err := scenarioNamed(name); err != nil || s.Name != want {
			t.Errorf("%s is %q, %v, want %s", name, s.Name, err, want)
		}
	}
	for name, want := range map[string]string{
		"setnx-expire": "setnx-expire is a lock and a demo (lockbench demo setnx-expire); P02",
		"contend":      "lockbench run --workload contend",
		"get-del-rac":  "did you mean get-del-race?",
		"rueidislok":   "did you mean the lock rueidislock?",
		"P999":         `no scenario "P999"`,
	} {
		if s, err := scenarioNamed(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %q, %v, want an error with %q", name, s.Name, err, want)
		}
	}
}

// TestEveryNameIsUnderstood: whatever lockbench list and demo show can be given to run, which
// either plays it or says what it is and what to run.
func TestEveryNameIsUnderstood(t *testing.T) {
	for _, s := range scenarios.All() {
		for _, name := range []string{s.ID, s.Name, strings.ToLower(s.ID)} {
			if got, err := scenarioNamed(name); err != nil || got.Name != s.Name {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	for _, l := range libraries.Catalogue() {
		if _, err := scenarios.Find(l.Name); err == nil {
			continue
		}
		if _, err := scenarioNamed(l.Name); err == nil || !strings.HasPrefix(err.Error(), l.Name+" is a lock") {
			t.Errorf("%s: %v", l.Name, err)
		}
	}
	for _, d := range demo.All() {
		if _, err := scenarioNamed(d.Name); err != nil && !strings.Contains(err.Error(), "lockbench demo "+d.Name) {
			t.Errorf("%s: %v", d.Name, err)
		}
	}
}
