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

// draw finds the attempts that the witness of a conflict names, and the window.
func (s *stretch) draw(c *conflict) {
	f := framing{witness: slices.Sorted(slices.Values(c.witness)), attempts: make(map[uint64]bool)}
	first, last := f.witness[0], f.witness[len(f.witness)-1]
	f.first = histories.Instant{Event: first, Time: s.of(first)}
	f.last = histories.Instant{Event: last, Time: s.of(last)}
	for _, o := range c.called {
		f.call(o)
	}
	c.frame.from, c.frame.to = f.first.Time, f.last.Time
	for _, h := range s.holds {
		f.call(acquired(h))
		for _, x := range h.Extends {
			f.call(called{h.Attempt, x.Invoked, x.Returned, nil})
		}
		for _, a := range h.Releases {
			f.call(called{h.Attempt, a.Invoked, a.Returned, nil})
		}
	}
	for _, o := range s.calls { // what is no hold: a refused acquire, a read
		f.call(calledBy(o))
	}
	var end histories.Instant
	for _, h := range s.holds {
		if f.attempts[h.Attempt] && !h.Open() && h.Ended.Event > f.last.Event && (end.Event == 0 || h.Ended.Event < end.Event) {
			end = h.Ended
		}
	}
	if end.Event > 0 {
		f.last = end
	}
	c.frame.attempts = sortedKeys(f.attempts)
	c.frame.events = s.gather(c, f)
	c.frame.window = &Window{First: f.first.Event, Last: f.last.Event, From: f.first.Time, To: f.last.Time}
}

// gather are the events that belong to a conflict: of its attempts and of what else it names, and the faults
// meanwhile.
func (s *stretch) gather(c *conflict, f framing) []histories.Event {
	var all []histories.Event
	call := func(o *histories.Op) {
		if all = append(all, o.Invoke); o.Done {
			all = append(all, o.Complete)
		}
	}
	for _, x := range c.called {
		if x.op != nil {
			call(x.op)
		}
	}
	for _, o := range s.calls {
		if f.attempts[o.Invoke.Attempt] || f.names(o.Invoke.Index) || o.Done && f.names(o.Complete.Index) {
			call(o)
		}
	}
	for _, e := range s.singles {
		if e.F == histories.Crash || f.attempts[e.Attempt] || f.names(e.Index) {
			all = append(all, e)
		}
	}
	for _, o := range s.ill {
		if o.Invoke.Index <= f.last.Event {
			call(o)
		}
	}
	return all
}

// framing is a frame that is being drawn.
type framing struct {
	witness     []int // in order
	attempts    map[uint64]bool
	first, last histories.Instant
}

// call takes a call into the frame if the witness names its beginning or its end.
func (f *framing) call(c called) {
	done := c.returned != (histories.Instant{})
	if named := f.names(c.invoked.Event) || done && f.names(c.returned.Event); !named {
		return
	}
	if c.attempt != 0 { // a count may belong to none
		f.attempts[c.attempt] = true
	}
	if c.invoked.Event <= f.first.Event {
		f.first = c.invoked
	}
	if done && c.returned.Event >= f.last.Event {
		f.last = c.returned
	}
}

func (f *framing) names(event int) bool {
	_, found := slices.BinarySearch(f.witness, event)
	return found
}
