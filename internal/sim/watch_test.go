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
	blocked, computes := func() bool { return false }, func() bool { return true }
	moving := watch{every: every}
	for i := range 10 * looks {
		if now = now.Add(every); moving.stands(now, 0, int64(i), blocked) {
			t.Fatalf("given up after %d looks at a clock that moved", i)
		}
	}
	starved := watch{every: every}
	for i := range 10 * looks { // the machine gives it a turn now and then
		if now = now.Add(3 * every); starved.stands(now, 0, 7, blocked) {
			t.Fatalf("given up after %d looks that came late", i)
		}
	}
	still, n := watch{every: every}, 0
	for ; !still.stands(now, 0, 7, blocked); n++ {
		if now = now.Add(every); n > 2*looks {
			t.Fatal("a clock that shows the same in all looks is not given up")
		}
	}
	if n < looks {
		t.Errorf("given up after %d looks, want %d", n, looks)
	}
	slow, spent := watch{every: every}, time.Duration(0)
	for n = 0; !slow.stands(now, spent, 7, computes); n++ { // it is given a twentieth of the processor
		if now, spent = now.Add(every), spent+every/20; n > 20*looks {
			t.Fatal("what computes without end is not given up")
		}
	}
	if n < 9*looks {
		t.Errorf("what computes on a busy machine is given up after %d looks, for %v of the processor", n, spent)
	}
}
