package checker

import (
	"slices"
	"time"

	"github.com/lockbench/lockbench/histories"
)

// A Window is the stretch of a history that is worth drawing when a violation is told: from
// the beginning of the first call that the witness names to the end of the last one, and on to
// where the first of the attempts ends that had not ended by then, so that an overlap is seen
// whole.
type Window struct {
	First int           `json:"first"` // event
	Last  int           `json:"last"`  // event
	From  time.Duration `json:"from"`  // time of the first
	To    time.Duration `json:"to"`    // time of the last
}

// within is the window of some events alone.
func within(times func(int) time.Duration, witness []int) *Window {
	w := Window{First: slices.Min(witness), Last: slices.Max(witness)}
	w.From, w.To = times(w.First), times(w.Last)
	return &w
}

// frame adds to a violation the attempts that its witness names, and the window.
func (r *record) frame(res *Result) {
	if res.Verdict != Fail || len(res.Witness) == 0 {
		return
	}
	f := framing{witness: slices.Sorted(slices.Values(res.Witness)), attempts: make(map[uint64]bool)}
	f.first, f.last = f.witness[0], f.witness[len(f.witness)-1]
	for _, h := range r.Holds {
		f.call(h.Attempt, h.Invoked.Event, h.Returned)
		for _, x := range h.Extends {
			f.call(h.Attempt, x.Invoked.Event, x.Returned)
		}
		for _, a := range h.Releases {
			f.call(h.Attempt, a.Invoked.Event, a.Returned)
		}
	}
	for _, s := range r.stretches {
		for _, o := range s.calls { // what is no hold: a refused acquire, a read
			f.call(o.Invoke.Attempt, o.Invoke.Index, histories.Instant{Event: o.Complete.Index, Time: o.Complete.Time})
		}
	}
	end := len(r.Times)
	for _, h := range r.Holds {
		if f.attempts[h.Attempt] && !h.Open() && h.Ended.Event > f.last {
			end = min(end, h.Ended.Event)
		}
	}
	if end < len(r.Times) {
		f.last = end
	}
	res.Attempts = sortedKeys(f.attempts)
	res.Window = within(func(i int) time.Duration { return r.Times[i] }, []int{f.first, f.last})
}

// framing is a frame that is being drawn.
type framing struct {
	witness     []int // in order
	attempts    map[uint64]bool
	first, last int
}

// call takes a call into the frame if the witness names its beginning or its end.
func (f *framing) call(attempt uint64, invoked int, returned histories.Instant) {
	done := returned != (histories.Instant{})
	if named := f.names(invoked) || done && f.names(returned.Event); !named {
		return
	}
	if attempt != 0 { // a count may belong to none
		f.attempts[attempt] = true
	}
	f.first = min(f.first, invoked)
	if done {
		f.last = max(f.last, returned.Event)
	}
}

func (f *framing) names(event int) bool {
	_, found := slices.BinarySearch(f.witness, event)
	return found
}
