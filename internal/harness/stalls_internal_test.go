package harness

import (
	"testing"
	"time"

	"github.com/lockbench/lockbench/histories"
)

func TestLateStepsAreStandstills(t *testing.T) {
	for _, tc := range []struct {
		d, lease time.Duration
		told     bool
	}{
		{99 * time.Millisecond, time.Second, false},
		{100 * time.Millisecond, time.Second, true},
		{49 * time.Millisecond, 100 * time.Millisecond, false},
		{50 * time.Millisecond, 100 * time.Millisecond, true},
		{time.Second, 49 * time.Millisecond, false}, // nobody has to be late for it to end
		{time.Second, -time.Second, false},
	} {
		recorder := histories.NewRecorder(nil)
		recorder.Start(func() time.Duration { return time.Second })
		late(recorder, tc.d, tc.lease)
		events := recorder.Events()
		if told := len(events) == 1 && events[0].F == histories.Stall && events[0].TTL == tc.d; told != tc.told || !told && len(events) > 0 {
			t.Errorf("%v late, a lease of %v: recorded %v, want a standstill: %t", tc.d, tc.lease, events, tc.told)
		}
	}
}
