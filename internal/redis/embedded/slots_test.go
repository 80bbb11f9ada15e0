package embedded

import "testing"

// TestSlots compares with what CLUSTER KEYSLOT of Redis 7.0.15 answers.
func TestSlots(t *testing.T) {
	for key, want := range map[string]int{
		"":                    0,
		"123456789":           12739,
		"orders/42":           1029,
		"orders/42:read":      1796,
		"{orders/42}:read":    1029,
		"a{orders/42}b{c}":    1029,
		"{}orders/42":         12889,
		"foo{bar":             15278,
		"foo{{orders/42}}zap": 8192,
	} {
		if got := slotOf(key); got != want {
			t.Errorf("%q is in slot %d, want %d", key, got, want)
		}
	}
}
