package locks_test

import (
	"strings"
	"testing"

	"github.com/lockbench/lockbench/internal/libraries"
)

// TestLibraries checks that the adapters name their module and version, and nobody else does.
func TestLibraries(t *testing.T) {
	modules := []string{"redsync", "bsm/redislock", "rueidislock"}
	seen := map[string]bool{}
	for _, spec := range libraries.Catalogue() {
		module, version, _ := strings.Cut(spec.Library(), " ")
		seen[module] = true
		known := false
		for _, m := range modules {
			known = known || m == module && strings.HasPrefix(version, "v")
		}
		adapter := strings.HasPrefix(spec.Name, "redsync") || strings.HasPrefix(spec.Name, "bsm-") || strings.HasPrefix(spec.Name, "rueidislock")
		if adapter != known {
			t.Errorf("%s, from %q, is of library %q", spec.Name, spec.Source, spec.Library())
		}
	}
	for _, m := range modules {
		if !seen[m] {
			t.Errorf("no lock is of library %s", m)
		}
	}
}
