package plot

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// TestQuantilesArePrecise checks that quantiles are never below the true ones, by nearest rank, and at
// most a thousandth above, and that the longest time is exact.
func TestQuantilesArePrecise(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	percents := []float64{50, 90, 99, 99.9, 100}
	for range 20 {
		took := make([]time.Duration, 1+r.IntN(2000))
		for i := range took {
			took[i] = time.Duration(math.Exp(r.Float64() * 28))
		}
		got := (&times{all: slices.Clone(took)}).at(fine, percents...)
		slices.Sort(took)
		if longest := took[len(took)-1]; got[4] != longest {
			t.Fatalf("the longest of %d is %d, want %d", len(took), got[4], longest)
		}
		for i, p := range percents {
			want := took[max(int(math.Round(p/100*float64(len(took)))), 1)-1]
			if got[i] < want || float64(got[i]) > float64(want)*1.001+1 {
				t.Errorf("%v %% of %d is %d, want %d", p, len(took), got[i], want)
			}
		}
	}
}
