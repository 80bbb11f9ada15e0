package checker

import (
	"context"
	"maps"
	"slices"

	"github.com/lockbench/lockbench/histories"
)

// A Watch judges a history while it is being recorded, so that a run can end at the first
// violation. What it finds decides only when the run ends: the judgement is Check's, of
// everything that was recorded by then.
//
// It watches the properties that later events cannot mend, though these may show that another of them explains what
// was seen: exclusion in all its readings,
// ownership, truthful replies, and all that has to do with the resource, with tokens and with
// re-entry. What is judged by what did not happen, such as deadlock freedom, has to wait for the
// end. A history must not be watched that Check would not judge.
//
// The judges are those of a Stream, and what it keeps is all that a Watch keeps. They observe each part of
// a key's history when it is over, and what there is of the others at once when an event is odd, as a
// grant beside another hold is, and whenever the history has grown by a sixteenth. But to watch a
// run shall not cost much more than to judge it fifty times, so that odd events that are no violation
// are in the end not asked about at once. A Watch starts no goroutine and asks no clock: it may be used
// in virtual time, and the same events are always found out at the same place.
type Watch struct {
	opt      Options
	wants    func(Property) bool
	stream   *Stream
	observed bool            // a part that is over, since the judges were asked last
	open     map[string]bool // keys that something happened on since then
	n        int             // events
	next     int             // events before which the judges are not asked again without need
	spent    int             // calls that were judged, over and over
	calls    int             // all of them
	hunch    hunch
}

// mostJudged is how often the judges may be asked about odd events, as a multiple of the history.
const mostJudged = 32

// NewWatch returns a Watch of those properties of which wants says so; nil means all that can be
// watched.
func NewWatch(opt Options, wants func(Property) bool) *Watch {
	if wants == nil {
		wants = func(Property) bool { return true }
	}
	w := &Watch{opt: opt, wants: wants, open: make(map[string]bool), hunch: hunch{
		held: make(map[string]map[uint64]int), seen: make(map[uint64]int64), last: make(map[string]string),
	}}
	w.stream = newStream(context.Background(), opt, w.watched())
	emit := w.stream.divider.emit
	w.stream.divider.emit = func(s *stretch) {
		w.observed = true
		emit(s)
	}
	return w
}

// Len is how many events the Watch has.
func (w *Watch) Len() int { return w.n }

// Add takes the next events, and returns the first property, in the order of reports, that is
// seen to be violated, or "".
func (w *Watch) Add(events ...histories.Event) Property {
	odd := make(map[string]bool)
	for i := range events {
		e := &events[i]
		if w.hunch.odd(*e) {
			odd[e.Key] = true
		}
		if e.Type == histories.Invoke && e.Process != histories.Nemesis {
			w.calls++
		}
		_ = w.stream.Add(*e)
		w.open[e.Key] = true
	}
	w.n += len(events)
	switch {
	case len(events) == 0 || w.stream.divider.summarizer.Err() != nil: // that is for Check to say
		return ""
	case w.n >= w.next:
		odd, w.open = w.open, make(map[string]bool)
		w.next = w.n + max(1, w.n/16)
	case w.spent > mostJudged*w.calls:
		odd = nil
	}
	return w.ask(odd)
}

// ask asks the judges of what is over, and of what there is of some keys.
func (w *Watch) ask(keys map[string]bool) Property {
	found := make(map[Property]bool)
	if w.observed {
		for _, c := range w.stream.judges {
			found[c.property] = c.err == nil && c.fails()
		}
		w.observed = false
	}
	for _, key := range sortedKeys(keys) {
		s := w.stream.divider.sofar(key)
		if s == nil {
			continue
		}
		w.spent += len(s.calls)
		for _, spec := range w.watched() {
			c := assessment{spec: spec, judge: spec.judge(s.record, w.opt)}
			if c.concerns != nil && !c.concerns(s.record) {
				continue
			}
			c.observe(context.Background(), s, w.opt)
			found[c.property] = found[c.property] || c.err == nil && c.fails()
		}
	}
	for _, c := range w.stream.judges {
		if found[c.property] {
			return c.property
		}
	}
	return ""
}

// fails reports whether what the judge has observed is a violation.
func (a *assessment) fails() bool {
	var res finding
	return a.judge.verdict(&res) == nil && res.Verdict == Fail
}

// sofar is what there is of the last part of a key, as if the history ended here; nil if there is
// nothing.
func (d *divider) sofar(key string) *stretch {
	c := d.keys[key]
	if c == nil {
		return nil
	}
	for _, o := range c.flying {
		d.summarizer.Doubt(o)
	}
	s := *c.part
	s.holds = slices.Clone(s.holds)
	d.complete(&s)
	return &s
}

// watched are the judges that are asked. Of exclusion that is the interval engine alone:
// porcupine bounds itself by the time of day.
func (w *Watch) watched() []spec {
	readings := map[Property]reading{StrictExclusion: strictSections, LeaseExclusion: leaseSections, LeaseHonoured: servedSections}
	var watched []spec
	for _, s := range allSpecs() {
		switch read, excludes := readings[s.property]; {
		case !w.wants(s.property), slices.Contains([]Property{DeadlockFreedom, Availability, Fairness}, s.property):
			continue
		case excludes:
			s.judge = func(rec *record, opt Options) judge {
				return &exclusion{record: rec, leased: s.property == LeaseHonoured, read: read, interval: sweep, opt: opt}
			}
		}
		watched = append(watched, s)
	}
	return watched
}

// A hunch is what makes an event odd: not more than a reason to ask the judges now.
type hunch struct {
	held map[string]map[uint64]int // by key: the attempts that hold it, with their workers
	seen map[uint64]int64          // by attempt: the version of the resource that it knows
	last map[string]string         // by key: the number that a counter was brought to
}

// odd reports whether e does not fit what was before it.
func (h hunch) odd(e histories.Event) bool {
	held := h.held[e.Key]
	switch {
	case e.Process == histories.Nemesis:
	case e.F == histories.Crash:
		for _, held := range h.held {
			maps.DeleteFunc(held, func(_ uint64, worker int) bool { return worker == e.Worker })
		}
	case e.F == histories.Acquire && e.Type == histories.OK:
		if held == nil {
			held = make(map[uint64]int)
			h.held[e.Key] = held
		}
		held[e.Attempt] = e.Worker
		return len(held) > 1
	case e.F == histories.Release && e.Type == histories.Invoke, e.F == histories.Lost, e.F == histories.Abandon:
		delete(held, e.Attempt)
		delete(h.seen, e.Attempt)
	case e.F == histories.Release || e.F == histories.Extend:
		return e.Type == histories.Fail
	case e.Type != histories.OK:
	case e.F == histories.Incr:
		twin := h.last[e.Key] == e.Value
		h.last[e.Key] = e.Value
		return twin
	case e.F == histories.Read || e.F == histories.Write || e.F == histories.Draw:
		knows, known := h.seen[e.Attempt]
		h.seen[e.Attempt] = e.Version
		if e.F != histories.Read {
			h.seen[e.Attempt]++
		}
		return known && knows != e.Version
	}
	return false
}
