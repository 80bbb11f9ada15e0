package histories

import (
	"math"
	"math/rand/v2"
	"testing"
)

// A table is a map, whatever the numbers.
func TestTable(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var table table[int]
	want := map[uint64]int{}
	for i := range 10_000 {
		n := rng.Uint64N(1000)
		switch rng.IntN(4) {
		case 0:
			n = rng.Uint64N(4 * highest)
		case 1:
			n = math.MaxUint64 - n
		case 2:
			n += highest - 500
		}
		if got := *table.of(n); got != want[n] {
			t.Fatalf("%d of %d, want %d", got, n, want[n])
		}
		*table.of(n), want[n] = i, i
	}
}
