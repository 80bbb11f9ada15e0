package gate_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/internal/libraries"
	"github.com/lockbench/lockbench/scenarios"
)

// TestMatrixPage checks what docs/matrix.md says of every lock of the catalogue under all scenarios: a sound one has no fault of its own
// and is judged in all, a broken one has a fault. That the page is what the runs show is checked by make docs-check.
func TestMatrixPage(t *testing.T) {
	page, err := os.ReadFile("../../../../docs/matrix.md")
	if err != nil {
		t.Fatal(err)
	}
	marks := map[string]string{} // of a lock, one for each pitfall
	row := regexp.MustCompile(`(?m)^([a-z][a-z0-9-]*)((?: +[Xo.?-]+)+)$`)
	for _, m := range row.FindAllStringSubmatch(string(page), -1) {
		marks[m[1]] += strings.ReplaceAll(m[2], " ", "")
	}
	// When A dies in P02, redlock-in-turns has asked one of five servers, and then nobody contends.
	// The server of P51 comes back without its library of functions, and then nobody can release.
	unjudged := map[string]int{"redlock-in-turns": 1, "setnx-px-fcall": 1}
	for _, lock := range libraries.Catalogue() {
		got, twin := marks[lock.Name], lock
		if lock.Variant != "" {
			var err error
			if twin, err = libraries.Catalogue().Find(lock.Variant); err != nil {
				t.Fatal(err)
			}
		}
		switch {
		case len(got) != len(scenarios.All()):
			t.Errorf("docs/matrix.md has %d places of %s, want %d; run: make docs", len(got), lock.Name, len(scenarios.All()))
		case lock.Sound != !strings.Contains(got, "X"):
			t.Errorf("%s: sound is %v, and its own faults are %q", lock.Name, lock.Sound, got)
		case lock.Sound && strings.Count(got, "?") != unjudged[lock.Name]:
			t.Errorf("%s is sound, and cannot be judged: %q", lock.Name, got)
		case lock.Sound && len(lock.Commands) > 0 && lock.Class() == twin.Class() && unjudged[lock.Name] == 0 && got != marks[twin.Name]:
			t.Errorf("%s does by commands of its own what %s does, and differs:\n%s\n%s", lock.Name, lock.Variant, got, marks[lock.Variant])
		}
	}
}
