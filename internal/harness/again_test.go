package harness_test

import (
	"testing"
	"time"

	"github.com/lockbench/lockbench/internal/harness"
)

// TestAgain checks with which leases a run is played again.
func TestAgain(t *testing.T) {
	for name, tc := range map[string]struct {
		backend harness.Backend
		masters int
		want    []int // how many times as long
	}{
		"real":            {harness.Process(), 1, []int{1, 2, 4, 8, 8}},
		"several masters": {harness.Process(), 5, []int{1, 1, 1, 1, 1}},
		"in virtual time": {harness.Embedded(), 1, []int{1, 1, 1, 1, 1}},
	} {
		cfg := harness.Config{Test: harness.Test{TTL: time.Second}}
		cfg.Backend, cfg.Lock.Masters = tc.backend, tc.masters
		for i, times := range tc.want {
			if got := cfg.Again(i + 1).TTL; got != time.Duration(times)*time.Second {
				t.Errorf("%s, for the %d. time: %v, want %d s", name, i+1, got, times)
			}
		}
	}
}
