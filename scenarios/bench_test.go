package scenarios_test

import (
	"testing"

	"github.com/lockbench/lockbench/scenarios"
)

// BenchmarkAll reads the whole catalogue.
func BenchmarkAll(b *testing.B) {
	for b.Loop() {
		if len(scenarios.All()) == 0 {
			b.Fatal("the catalogue is empty")
		}
	}
}
