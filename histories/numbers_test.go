package histories

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestNumbers(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var set numbers
	want := make(map[uint64]bool)
	for range 5_000 {
		n := rng.Uint64N(2_000)
		if rng.IntN(10) == 0 {
			n = math.MaxUint64 - rng.Uint64N(3)
		}
		if set.has(n) != want[n] {
			t.Fatalf("has(%d) is %v", n, set.has(n))
		}
		set.add(n)
		want[n] = true
	}
	held := uint64(0)
	for i, r := range set.runs {
		held += r.to - r.from + 1
		if r.from > r.to || i > 0 && set.runs[i-1].to+1 >= r.from {
			t.Fatalf("runs %v and %v", set.runs[max(i-1, 0)], r)
		}
	}
	if int(held) != len(want) {
		t.Errorf("%d numbers, want %d", held, len(want))
	}
}
