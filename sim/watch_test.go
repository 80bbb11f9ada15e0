package sim

import (
	"errors"
	"sync/atomic"
	"testing"
	"time"
)

// TestOnlyStandstillIsStuck checks that a run is given up when virtual time shows the same
// twice, and not for the real time that it takes.
func TestOnlyStandstillIsStuck(t *testing.T) {
	var reached atomic.Int64
	end, over := make(chan error, 1), errors.New("over")
	looks := 0
	moves := func() <-chan time.Time { // until the run ends
		if looks++; looks > 1000 {
			end <- over
			return nil
		}
		reached.Add(1)
		return due()
	}
	if _, ended, err := watch(end, &reached, moves); !ended || !errors.Is(err, over) {
		t.Errorf("ended %v, %v after %d looks at a clock that moved", ended, err, looks)
	}
	looks = 0
	stops := func() <-chan time.Time {
		if looks++; looks <= 3 {
			reached.Store(int64(looks) * int64(time.Second))
		}
		return due()
	}
	if at, ended, _ := watch(end, &reached, stops); ended || at != 3*time.Second || looks != 4 {
		t.Errorf("ended %v, at %v after %d looks, want it given up at 3s after 4", ended, at, looks)
	}
}

func due() <-chan time.Time {
	c := make(chan time.Time, 1)
	c <- time.Time{}
	return c
}
