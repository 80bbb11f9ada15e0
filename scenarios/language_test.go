package scenarios_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench/internal/language"
	"github.com/lockbench/lockbench/scenarios"
)

// TestScenariosAreTranslated checks that what happens in each scenario, and why its lock breaks, has a text in each language, and that no
// text is for what no scenario says any more.
func TestScenariosAreTranslated(t *testing.T) {
	said := map[string]bool{}
	for _, s := range scenarios.All() {
		said[s.Title], said[s.Why] = true, true
	}
	for _, in := range language.All()[1:] {
		file := filepath.Join("..", "internal", "language", "texts", in.Name(), "scenarios.txt")
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(slices.Sorted(maps.Keys(said)), slices.Sorted(maps.Keys(language.Parse(string(src))))); diff != "" {
			t.Errorf("%s (-said +there):\n%s", file, diff)
		}
	}
}
