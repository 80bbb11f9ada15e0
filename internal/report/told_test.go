package report

import (
	"testing"
	"time"

	"github.com/lockbench/lockbench/histories"
)

// TestToldBy: a lease that was extended ends when its holder was told last, and not before it was.
func TestToldBy(t *testing.T) {
	h := histories.Hold{Deadline: 3 * time.Second, Extends: []histories.Extension{
		{Returned: histories.Instant{Event: 10}, Deadline: 5 * time.Second},
		{Returned: histories.Instant{Event: 12}}, // it did not say
	}}
	for event, want := range map[int]time.Duration{9: 3 * time.Second, 11: 5 * time.Second, 13: 5 * time.Second} {
		if got := toldBy(h, event); got != want {
			t.Errorf("by event %d it ends at %v, want %v", event, got, want)
		}
	}
}
