package explore_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/internal/explore"
	"github.com/lockbench/lockbench/internal/schedule"
)

// TestAllProven: each schedule that was found is there once as a program and what happens in it, which together are the schedule again.
func TestAllProven(t *testing.T) {
	all, err := explore.AllProven()
	if err != nil {
		t.Fatal(err)
	}
	steps := map[string]bool{}
	for _, p := range all {
		f := explore.Finding{Program: p.Program, Deviations: p.Deviations}
		s := f.Schedule()
		steps[text(s.Steps)] = true
		if len(p.Deviations) > 1 || strings.Contains(p.Program.Title, ";") || !strings.HasPrefix(p.Program.Name, "found/") {
			t.Errorf("%s: %q with %v", p.Program.Name, p.Program.Title, p.Deviations)
		}
	}
	files, err := filepath.Glob(filepath.Join(provenDir, "*.schedule"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, name := range files {
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		s, err := schedule.Parse(string(src))
		if err != nil || !steps[text(s.Steps)] {
			t.Errorf("%s is not among them: %v", name, err)
		}
	}
	if len(all) >= len(files) || len(all) < len(files)/2 {
		t.Errorf("%d schedules of %d files: want the same ones once", len(all), len(files))
	}
	t.Logf("%d schedules in %d files", len(all), len(files))
}

func text(steps []schedule.Step) string {
	var all []string
	for _, s := range steps {
		all = append(all, s.String())
	}
	return strings.Join(all, "\n")
}
