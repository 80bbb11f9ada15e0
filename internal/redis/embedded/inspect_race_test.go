package embedded

import (
	"testing"

	"github.com/alicebob/miniredis/v2"
)

// TestFieldsBesideCommands looks at a sorted set while commands change it, for the race detector.
func TestFieldsBesideCommands(t *testing.T) {
	m := miniredis.NewMiniRedis()
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 500 {
			_, _ = m.ZAdd("k", 1.5, "a")
			_, _ = m.ZRem("k", "a")
		}
	}()
	for range 500 {
		for _, f := range fields(m, "k") {
			if f.Name != "a" {
				t.Errorf("there is %q", f.Name)
			}
		}
	}
	<-done
	_, _ = m.ZAdd("k", 1.5, "a")
	if got := fields(m, "k"); len(got) != 1 || got[0].Value != "1.5" {
		t.Errorf("got %v, want a at 1.5", got)
	}
}
