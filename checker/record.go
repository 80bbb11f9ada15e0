package checker

import (
	"github.com/lockbench/lockbench/histories"
)

// A record is a history as the judges see it. They only read it.
type record struct {
	histories.Remains
	stretches []*stretch // in order of keys

	// What is kept of no history of which exclusion alone is judged: see Stream.
	fair *fairness
	// crashes are the events at which processes crashed, by process.
	crashes map[int]int

	// excerpt says that calls were left out, so that a resource cannot be called broken
	// because it shows what they did.
	excerpt bool
}

// newRecord pairs a history. An error means that it must not be judged; the record is what
// could be paired.
func newRecord(events []histories.Event) (*record, error) {
	s := NewStream(nil)
	for _, e := range events {
		_ = s.Add(e)
	}
	return s.record()
}

// calling is the span of a call. One without an outcome ends with the crash of its process, or
// never.
func (r *record) calling(o *histories.Op) span {
	s := span{at(o.Invoke.Index), never}
	if o.Done {
		s.to = at(o.Complete.Index)
	} else if crash, ok := r.crashes[o.Invoke.Process]; ok && crash > o.Invoke.Index {
		s.to = at(crash)
	}
	return s
}

// refused says whether a call was refused. An acquire whose arguments were is none: nobody was
// asked for the lock.
func refused(o *histories.Op) bool {
	return o.Outcome() == histories.Fail && !o.Complete.Invalid()
}

// when is the time of the i-th event as stories tell it.
func (r *record) when(i int) string { return seconds(r.Times[i]) }

// A span is a stretch of ranks.
type span struct{ from, to rank }

// meets says whether two spans have some time in common.
func (s span) meets(o span) bool { return s.from < o.to && s.to > o.from }

// thoughtHeld is the span in which a living client may have thought that it had h:
// from the acquire's invocation to the end of the belief, or, if the acquire's
// outcome is unknown, as long as it was in flight.
func thoughtHeld(h *histories.Hold) span {
	s := span{at(h.Invoked.Event), endOf(h)}
	if h.Outcome == histories.Info && h.Returned != (histories.Instant{}) {
		s.to = min(s.to, at(h.Returned.Event))
	}
	return s
}

// count sets how many events of these kinds there are, and how many of the calls among
// them have no known outcome.
func (res *Result) count(rec *record, kinds ...histories.F) {
	for _, kind := range kinds {
		res.Checked += rec.Tallies[kind].Events
		res.Unknowns += rec.Tallies[kind].Unknown()
	}
}
