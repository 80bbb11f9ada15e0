package gate_test

import (
	"os"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/internal/libraries"
)

// TestMatrixPage checks what docs/matrix.md says of every lock of the catalogue under all scenarios: a sound one has no fault of its own
// and is judged in all, a broken one has a fault. That the page is what the runs show is checked by make docs-check.
func TestMatrixPage(t *testing.T) {
	page, err := os.ReadFile("../../../../docs/matrix.md")
	if err != nil {
		t.Fatal(err)
	}
	marks := map[string]string{} // of a lock, one for each pitfall
	var names []string
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(strings.TrimSuffix(line, " |\n"), " | ")
		switch {
		case cells[0] == "| pitfall":
			names = cells[1:]
		case strings.HasPrefix(line, "# What breaks"):
			names = nil
		case len(names) > 0 && strings.HasPrefix(line, "| P"):
			for i, mark := range cells[1:] {
				marks[names[i]] += mark
			}
		}
	}
	// When A dies in P02, redlock-in-turns has asked one of five servers, and then nobody contends.
	unjudged := map[string]int{"redlock-in-turns": 1}
	for _, lock := range libraries.Catalogue() {
		got := marks[lock.Name]
		switch {
		case got == "":
			t.Errorf("docs/matrix.md has nothing of %s; run: make docs", lock.Name)
		case lock.Sound != !strings.Contains(got, "✗"):
			t.Errorf("%s: sound is %v, and its own faults are %q", lock.Name, lock.Sound, got)
		case lock.Sound && strings.Count(got, "?") != unjudged[lock.Name]:
			t.Errorf("%s is sound, and cannot be judged: %q", lock.Name, got)
		}
	}
}
