package harness

import (
	"testing"
	"time"

	"github.com/lockbench/lockbench/histories"
)

func TestLateStepsAreStandstills(t *testing.T) {
	for d, want := range map[time.Duration]int{99 * time.Millisecond: 0, 100 * time.Millisecond: 1} {
		recorder := histories.NewRecorder(nil)
		recorder.Start(func() time.Duration { return time.Second })
		(&stalls{bound: Test{TTL: time.Second}.stallBound()}).late(recorder, d)
		events := recorder.Events()
		if len(events) != want || want > 0 && (events[0].F != histories.Stall || events[0].TTL != d) {
			t.Errorf("%v late: recorded %v, want %d standstill", d, events, want)
		}
	}
}
