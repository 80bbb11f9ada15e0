package sim

import (
	"testing"
	"time"
)

// TestOnlyStandstillIsStuck checks that a run is given up when virtual time shows the same at
// many looks that came in time, and not for the real time that it takes, nor because nobody
// looked.
func TestOnlyStandstillIsStuck(t *testing.T) {
	const every = 10 * time.Millisecond
	now := time.Unix(1, 0)
	moving := watch{every: every}
	for i := range 10 * looks {
		if now = now.Add(every); moving.stands(now, int64(i)) {
			t.Fatalf("given up after %d looks at a clock that moved", i)
		}
	}
	starved := watch{every: every}
	for i := range 10 * looks { // the machine gives it a turn now and then
		if now = now.Add(3 * every); starved.stands(now, 7) {
			t.Fatalf("given up after %d looks that came late", i)
		}
	}
	still, n := watch{every: every}, 0
	for ; !still.stands(now, 7); n++ {
		if now = now.Add(every); n > 2*looks {
			t.Fatal("a clock that shows the same in all looks is not given up")
		}
	}
	if n < looks {
		t.Errorf("given up after %d looks, want %d", n, looks)
	}
}
