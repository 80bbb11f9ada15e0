package harness

import (
	"errors"
	"slices"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/player"
)

// stallLook is how often it is looked whether lockbench stands still.
const stallLook = 10 * time.Millisecond

// shortestStall is how long lockbench, or the machine, may stand still however short a lease is.
const shortestStall = 50 * time.Millisecond

// stallBound is how long lockbench, or the machine, may stand still before what it may have
// brought about is no longer held against the lock: well below what a lease leaves to chance.
func stallBound(lease time.Duration) time.Duration { return max(shortestStall, lease/10) }

// stalls notices that lockbench itself stood still, as after SIGSTOP, on a machine that is too
// busy, or that slept: a look comes late by the monotonic clock. A wall clock that is set counts,
// too, as servers measure leases by theirs. Each stall becomes an event, so that whoever judges
// the history again finds the same.
type stalls struct {
	bound   time.Duration
	longest time.Duration
}

// start looks until stop is called, which looks once more. It is given what became of the run,
// and returns what that says: a step that could not be played while lockbench stood still is no
// failure of the harness. A nil *stalls looks at nothing.
func (s *stalls) start(recorder *histories.Recorder) (stop func(error) error) {
	if s == nil {
		return func(err error) error { return err }
	}
	end, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(stallLook)
		defer tick.Stop()
		before := time.Now()
		for over := false; !over; {
			select {
			case <-tick.C:
			case <-end:
				over = true
			}
			at := time.Now()
			if d := stood(before, at); d >= s.bound {
				s.longest = max(s.longest, d)
				recordStall(recorder, d, nil)
			}
			before = at
		}
	}()
	return func(err error) error {
		close(end)
		<-done
		if step, ok := errors.AsType[*player.StepError](err); ok && s.longest > 0 {
			recordStall(recorder, s.longest, step)
			return nil
		}
		return err
	}
}

// stood is for how long nobody looked, or by how much the wall clock was set, if that is more.
func stood(before, at time.Time) time.Duration {
	late := at.Sub(before) - stallLook
	set := at.Round(0).Sub(before.Round(0)) - at.Sub(before)
	return max(late, set.Abs())
}

// Stalled reports whether lockbench, or the machine, stood still during the run.
func (r Result) Stalled() bool {
	return slices.ContainsFunc(r.Events, func(e histories.Event) bool { return e.F == histories.Stall })
}

// Busy reports whether the run shows a machine that is too busy to say anything of the lock: it stood still, or
// on real servers a client was not given a lock that was free. One that refuses by itself fails availability.
func (r Result) Busy() bool {
	return r.Stalled() || !histories.VirtualTime(r.Meta.Backend) && r.Report.Result(checker.Availability).Verdict != checker.Fail &&
		slices.ContainsFunc(r.Events, func(e histories.Event) bool { return e.F == histories.Missed && e.Key != "" })
}

// late records a standstill if a script was late by d for what is about a lease, and that is as long as one. A lease that is shorter than any
// standstill ends while nobody is late.
func late(recorder *histories.Recorder, d, lease time.Duration) {
	if lease >= shortestStall && d >= stallBound(lease) {
		recordStall(recorder, d, nil)
	}
}

func recordStall(recorder *histories.Recorder, d time.Duration, step error) {
	e := histories.Event{Process: histories.Nemesis, Worker: histories.Nemesis, Type: histories.Info, F: histories.Stall, TTL: d}
	if step != nil {
		e.Err = step.Error() + " could not be played"
	}
	recorder.Record(e)
}
