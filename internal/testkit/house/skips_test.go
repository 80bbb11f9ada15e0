package house

import (
	"regexp"
	"slices"
	"testing"
)

// mayBeSkipped are the files whose tests CI lets be skipped, each with what the test wants.
func mayBeSkipped() map[string]string {
	return map[string]string{
		"checker/models_test.go":                     "a checkout of Knossos",
		"internal/peers/random_test.go":              "hours",
		"cmd/lockbench/scale_test.go":                "make bench-check",
		"cmd/lockbench/starved_test.go":              "a starved machine",
		"examples/go/broken_test.go":                 "locks that are broken on purpose; another test there plays them",
		"examples/recording/recorder_test.go":        "a JDK, which is large",
		"internal/explore/found_test.go":             "a search of the whole catalogue, which takes minutes",
		"internal/explore/pitfalls_test.go":          "a search of the whole catalogue, which takes minutes",
		"internal/peers/discovered_test.go":          "a search of the whole catalogue, which takes minutes",
		"internal/explore/shorten_test.go":           "to be asked to write files",
		"internal/harness/harness_test.go":           "a newer server",
		"locks/world_test.go":                        "a newer server",
		"internal/redis/embedded/ifeq_test.go":       "a Valkey of version 9.0 or newer",
		"internal/redis/embedded/hsetex_test.go":     "a Redis of version 8.0 or newer, or a Valkey of 9.0",
		"internal/testkit/choosing/measured_test.go": "make choosing-measured",
		"internal/testkit/effort/effort.go":          "to be run without -short",
		"internal/testkit/effort/summary_test.go":    "nothing: it tests how skips are told",
		"internal/testkit/locktest/languages.go":     "a JDK, which is large",
	}
}

// TestOptionalSkips checks that no other test is given a reason with which CI lets it be skipped.
func TestOptionalSkips(t *testing.T) {
	reason := regexp.MustCompile(`["\x60]optional: [-\w]`)
	var found []string
	for name, source := range goFiles(t) {
		if reason.Match(source) {
			found = append(found, name)
		}
	}
	for _, name := range found {
		if mayBeSkipped()[name] == "" {
			t.Errorf("%s has a test that CI lets be skipped", name)
		}
	}
	for name := range mayBeSkipped() {
		if !slices.Contains(found, name) {
			t.Errorf("%s has no test that may be skipped: take it out of the list", name)
		}
	}
}
