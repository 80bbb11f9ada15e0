package explore_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lockbench/lockbench/internal/explore"
	"github.com/lockbench/lockbench/internal/libraries"
)

// TestChooser: whoever chooses schedules by chance finds what breaks a broken lock, the same choices find the same again, and a sound
// lock is accused of nothing.
func TestChooser(t *testing.T) {
	const tries = 60
	for lock, broken := range map[string]bool{"setnx-px-del": true, "setnx-px-lua": false} {
		spec, err := libraries.Catalogue().Find(lock)
		if err != nil {
			t.Fatal(err)
		}
		c, err := explore.NewChooser(spec, explore.Options{Play: inProcess(), Among: libraries.Catalogue(), Depth: 1})
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		for seed := range uint64(tries) {
			try := func() (explore.Finding, bool) { return c.Try(t.Context(), rand.New(rand.NewPCG(seed, 0)).IntN) }
			f, ok := try()
			if !ok {
				continue
			}
			found++
			again, ok := try()
			if !ok || again.Program.Name != f.Program.Name || !slices.Equal(again.Broken, f.Broken) || len(again.Deviations) != len(f.Deviations) {
				t.Errorf("%s: %v breaks %v, and once more %v breaks %v", lock, f.Deviations, f.Broken, again.Deviations, again.Broken)
			}
			if found == 3 {
				break
			}
		}
		if (found > 0) != broken {
			t.Errorf("%s: %d of %d schedules broke it, want it broken: %v", lock, found, tries, broken)
		}
	}
}
