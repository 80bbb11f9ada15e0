package checker_test

import (
	"testing"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
)

// TestPieceInParts: readers come and go without a gap, so that all of them are one piece, of which porcupine is given parts. A writer that
// is let in beside a reader from the beginning, with whom it is in no part, is found by both engines all the same.
func TestPieceInParts(t *testing.T) {
	const readers, rounds = 8, 6000
	var events []histories.Event
	attempt := uint64(0)
	answered := histories.OK
	call := func(worker int, f histories.F, a uint64, mode histories.Mode) {
		e := histories.Event{Process: worker, Worker: worker, Type: histories.Invoke, F: f, Key: "k", Attempt: a}
		if f == histories.Acquire {
			e.TTL, e.Value = 24*time.Hour, string(mode)
		}
		for range 2 {
			e.Index, e.Time = len(events), time.Duration(len(events))*time.Microsecond
			events = append(events, e)
			if e.Type = answered; answered == histories.Fail {
				e.Value = ""
			}
		}
	}
	acquire := func(worker int, mode histories.Mode) uint64 {
		attempt++
		call(worker, histories.Acquire, attempt, mode)
		return attempt
	}
	call(readers+1, histories.Release, acquire(readers+1, ""), "")
	acquire(readers, histories.Shared) // to the end
	answered = histories.Fail
	acquire(readers+1, "")
	answered = histories.OK
	held := make([]uint64, readers)
	for i := range rounds {
		w := i % readers
		if held[w] != 0 {
			call(w, histories.Release, held[w], "")
		}
		held[w] = acquire(w, histories.Shared)
	}
	judge := func() (checker.Verdict, []int) {
		t.Helper()
		report := checker.Check(t.Context(), events, checker.Options{})
		if len(report.HarnessErrors) > 0 {
			t.Fatal(report.HarnessErrors)
		}
		for _, res := range report.Results {
			if res.Property == checker.StrictExclusion {
				return res.Verdict, res.Witness
			}
		}
		return checker.Unknown, nil
	}
	if got, _ := judge(); got != checker.Pass {
		t.Errorf("readers, and a writer who is refused: %v, want a pass", got)
	}
	for w, a := range held {
		call(w, histories.Release, a, "")
	}
	acquire(readers+1, "")
	if got, witness := judge(); got != checker.Fail || len(witness) != 2 || witness[0] != 5 {
		t.Errorf("a writer beside the first reader: %v by %v, want a failure by event 5 and the last one", got, witness)
	}
}
