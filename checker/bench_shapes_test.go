package checker

import (
	"fmt"
	"testing"

	"github.com/lockbench/lockbench/internal/testkit/crowd"
)

// BenchmarkShapes shows how the cost of judging grows: from the smaller to the larger history of a
// shape it should not be more than the size does.
func BenchmarkShapes(b *testing.B) {
	for _, shape := range crowd.Shapes() {
		for _, n := range []int{20_000, 80_000} {
			events := shape.Events(n)
			b.Run(fmt.Sprintf("%s/%d", shape.Name, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					Check(b.Context(), events, Options{})
				}
			})
		}
	}
}
