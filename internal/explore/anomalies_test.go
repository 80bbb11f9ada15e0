package explore_test

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/internal/anomalies"
	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/libraries"
	"github.com/lockbench/lockbench/internal/testkit/effort"
	"github.com/lockbench/lockbench/scenarios"
)

// The table of named anomalies.
const (
	anomaliesFile = "../../docs/anomalies.md"
	anomaliesHead = `# Named anomalies

What goes wrong with locks has names here. A run shows one if a property is broken and the cause that was derived from its events and
commands is of the kind that the name stands for (` + "`internal/anomalies/table.go`" + ` is the table); what was only seen, or has another cause, has
no name. ` + "`lockbench explore`" + ` names what it finds, ` + "`lockbench run`" + ` says in its first line what a run shows, and causes have the code in JSON
(` + "`anomaly`" + `). A code is for life.

Written by ` + "`make docs`" + `. The schedules are those that a search has found; where it has found none, a scenario of the catalogue shows the
anomaly, mostly as a weakness of a class. Where neither does, no lock of the catalogue has it.

| code | name | what it is | shown by |
|---|---|---|---|
`
)

// anomaliesOf plays the case that a scenario is about, and returns the anomalies that what it breaks shows, the nearest first.
func anomaliesOf(t *testing.T, s scenarios.Scenario) []anomalies.Anomaly {
	t.Helper()
	broken := s.Broken()
	cfg, err := s.Config(find(t, broken.Lock), broken.Guard, harness.Embedded(), 0)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Seed = max(s.Script.Seed, 1)
	res, err := harness.Run(t.Context(), cfg)
	if err != nil {
		t.Fatalf("%s: %v", s.Name, err)
	}
	var shown []anomalies.Anomaly
	for i := range res.Causes {
		if a, ok := anomalies.Of(res.Causes[i:i+1], failing(broken.Want)); ok {
			shown = append(shown, a)
		}
	}
	return shown
}

// TestAnomalies plays the schedules that the search has found, and the scenarios: each found schedule claims one anomaly that its run
// shows and no other, and the table in the docs says which show which. With -update it writes the table.
func TestAnomalies(t *testing.T) {
	effort.Long(t)
	shownBy, scenario := map[string][]string{}, map[string]string{}
	for _, lock := range libraries.Catalogue() {
		if lock.Sound {
			continue
		}
		text, err := os.ReadFile(filepath.Join(foundDir, lock.Name+".schedule"))
		if err != nil {
			t.Fatal(err)
		}
		s, err := scenarios.Parse(string(text))
		if err != nil {
			t.Fatal(err)
		}
		shown, named := anomaliesOf(t, s), anomalies.Anomaly{}
		for _, a := range anomalies.All() {
			if strings.HasPrefix(s.Why, a.Title()) {
				named = a
			}
		}
		if len(shown) > 0 != (named.Code != "") || named.Code != "" && !slices.Contains(shown, named) {
			t.Errorf("the schedule found of %s claims %s; its run shows %v", lock.Name, cmp.Or(named.Code, "none"), shown)
		}
		shownBy[named.Code] = append(shownBy[named.Code], fmt.Sprintf("[%s](../internal/explore/found/%[1]s.schedule)", lock.Name))
	}
	for _, s := range scenarios.All() {
		if shown := anomaliesOf(t, s); len(shown) > 0 && scenario[shown[0].Code] == "" {
			scenario[shown[0].Code] = "`lockbench run " + s.ID + "`"
		}
	}
	page := anomaliesHead
	for _, a := range anomalies.All() {
		page += fmt.Sprintf("| %s | %s | %s | %s |\n", a.Code, a.Name, a.Definition, cmp.Or(strings.Join(shownBy[a.Code], ", "), scenario[a.Code], "–"))
	}
	if *update {
		write(t, anomaliesFile, page)
	}
	if written, err := os.ReadFile(anomaliesFile); err != nil || string(written) != page {
		t.Errorf("%s is not what the schedules show (%v); make docs writes it", anomaliesFile, err)
	}
}
