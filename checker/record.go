package checker

import (
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/explain"
)

// A record is what is known so far of a history, all keys together. The judges only read it.
type record struct {
	histories.Summary
	opt  Options
	last histories.Instant // event

	// crashes are when processes crashed, by process.
	crashes  map[int]histories.Instant
	ills     ills
	fair     *fairness
	searcher *explain.Searcher
	pace     *pacer

	longest   time.Duration // lease that anybody asked for who was not refused
	reenters  bool          // somebody would, or asks how often he did
	fenced    bool          // somebody has a token
	contended bool          // two clients wanted one key at the same time
	answered  bool          // and one of them was granted it while the other did
	hit       bool          // a fault met a lock that was possibly held
	possibly  time.Duration // until when one of those that were heard of may be held
}

func newRecord(opt Options) *record {
	return &record{opt: opt, crashes: make(map[int]histories.Instant), fair: newFairness(opt.Overtaking), searcher: new(explain.Searcher), pace: newPacer(), ills: ills{harmless: opt.clientFaults()}}
}

// note takes the next event.
func (r *record) note(e *histories.Event) {
	r.last = instant(e)
	r.pace.note(e.Time)
	switch {
	case e.Process == histories.Nemesis:
		r.fault(e)
	case e.F == histories.Acquire:
		r.reenters = r.reenters || e.Mode() == histories.Reentrant
		r.fenced = r.fenced || e.Type == histories.OK && e.Token != 0
	case e.F == histories.Count:
		r.reenters = true
	case e.F == histories.Crash && e.Single():
		r.crashes[e.Process] = instant(e)
	}
}

// over is when a call returned or its process crashed, if one of both happened.
func (r *record) over(o *histories.Op) (histories.Instant, bool) {
	if o.Done {
		return instant(&o.Complete), true
	}
	crash, ok := r.crashes[o.Invoke.Process]
	return crash, ok && crash.Event > o.Invoke.Index
}

// calling is the span of a call. One without an outcome ends with the crash of its process, or
// never.
func (r *record) calling(o *histories.Op) span {
	if end, over := r.over(o); over {
		return span{at(o.Invoke.Index), at(end.Event)}
	}
	return span{at(o.Invoke.Index), never}
}

// refused reports whether a call was refused. An acquire whose arguments were is none: nobody was
// asked for the lock.
func refused(o *histories.Op) bool {
	return o.Outcome() == histories.Fail && !o.Complete.Invalid()
}

// A span is a stretch of ranks.
type span struct{ from, to rank }

// meets reports whether two spans have some time in common.
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
