package orders

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/lockbench/lockbench/internal/testkit/effort"
)

// TestInstants compares what instants says can be with all whole instants in a small span.
func TestInstants(t *testing.T) {
	const (
		seed = 20251103
		span = 6
	)
	type bound struct {
		i, j int
		d    time.Duration
	}
	can, cannot := 0, 0
	for n := range uint64(effort.Count(3_000, 30_000)) {
		rng := rand.New(rand.NewPCG(seed, n))
		var s instants
		for range 3 {
			s.add()
		}
		bounds := []bound{{0, 1, 0}, {0, 2, 0}, {0, 3, 0}, {1, 0, span}, {2, 0, span}, {3, 0, span}}
		for range 2 + rng.IntN(5) {
			bounds = append(bounds, bound{rng.IntN(4), rng.IntN(4), time.Duration(rng.IntN(9) - 5)})
		}
		got := true
		for _, b := range bounds {
			got = got && s.within(b.i, b.j, b.d)
		}
		want := false
		for code := range (span + 1) * (span + 1) * (span + 1) {
			x := [4]time.Duration{0, time.Duration(code % (span + 1)), time.Duration(code / (span + 1) % (span + 1)), time.Duration(code / (span + 1) / (span + 1))}
			keeps := true
			for _, b := range bounds {
				keeps = keeps && x[b.i]-x[b.j] <= b.d
			}
			want = want || keeps
		}
		if got != want {
			t.Fatalf("seed %d, %d: %v says %v, want %v", seed, n, bounds, got, want)
		}
		if got {
			can++
		} else {
			cannot++
		}
	}
	if can == 0 || cannot == 0 {
		t.Errorf("%d can be and %d cannot, want some of both", can, cannot)
	}
}
