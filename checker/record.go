package checker

import (
	"slices"

	"github.com/lockbench/lockbench/histories"
)

// A record is a history as the judges see it. They only read it.
type record struct {
	events []histories.Event
	calls  []histories.Op   // of clients, in order of invocations
	faults []histories.Op   // in order of starts
	holds  []histories.Hold // in order of invocations
}

// newRecord pairs a history. An error means that it must not be judged.
func newRecord(events []histories.Event) (*record, error) {
	if err := histories.Validate(events); err != nil {
		return nil, err
	}
	ops, err := histories.Pair(events)
	if err != nil {
		return nil, err
	}
	rec := &record{events: events, holds: histories.Holds(events)}
	for _, o := range ops {
		if o.Fault() {
			rec.faults = append(rec.faults, o)
		} else {
			rec.calls = append(rec.calls, o)
		}
	}
	return rec, nil
}

// when is the time of the i-th event as stories tell it.
func (r *record) when(i int) string { return seconds(r.events[i].Time) }

// A span is a stretch of ranks.
type span struct{ from, to rank }

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

// count sets how many events of these kinds clients recorded, and how many of
// the calls among them have no known outcome.
func (res *Result) count(rec *record, kinds ...histories.F) {
	for _, e := range rec.events {
		if slices.Contains(kinds, e.F) {
			res.Checked++
		}
	}
	for _, o := range rec.calls {
		if o.Outcome() == histories.Info && slices.Contains(kinds, o.Invoke.F) {
			res.Unknowns++
		}
	}
}
