package gate

import (
	"slices"
	"testing"
)

// TestBlocks checks that however narrow the page, locks are drawn in their order, and as many
// side by side as fit.
func TestBlocks(t *testing.T) {
	for _, sizes := range [][]int{{3}, {3, 4}, {3, 12, 2}, {25, 1, 25}, {10, 10}, {1, 30}} {
		var families []family
		var want []int
		for _, size := range sizes {
			var f family
			for range size {
				f.members = append(f.members, len(want))
				want = append(want, len(want))
			}
			families = append(families, f)
		}
		const columns = 10
		var got []int
		for _, block := range blocks(families, columns) {
			wide := len(block) - 1 // between families
			for _, f := range block {
				wide += len(f.members)
				got = append(got, f.members...)
			}
			if len(block) == 0 || wide > columns {
				t.Errorf("%v: a block of %d families is %d columns wide, want at most %d", sizes, len(block), wide, columns)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%v: drawn in the order %v", sizes, got)
		}
	}
}
