package picture

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestWrap: English lines end at spaces, and Chinese ones anywhere but before what closes and behind what opens.
func TestWrap(t *testing.T) {
	for _, c := range []struct {
		text string
		most float64
		want []string
	}{
		{"one two three", 60, []string{"one two", "three"}},
		{"ended at 0.010 s. Then", 70, []string{"ended at", "0.010\u00a0s.", "Then"}},
		{"互斥性、有效期保证被破坏", 60, []string{"互斥性、有", "效期保证被", "破坏"}},
		{"互斥性有效、保证", 60, []string{"互斥性有", "效、保证"}},
		{"锁（令牌）", 30, []string{"锁", "（令", "牌）"}},
		{"A 和 B 持有 orders/42", 60, []string{"A 和 B 持", "有", "orders/42"}},
		{"", 60, nil},
	} {
		if diff := cmp.Diff(c.want, wrap(c.text, c.most)); diff != "" {
			t.Errorf("wrap(%q) (-want +got):\n%s", c.text, diff)
		}
	}
}
