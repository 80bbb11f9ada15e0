package histories

import (
	"slices"
	"strings"
	"time"
)

// A Fold takes a history event by event and keeps what is left of it when the events are
// gone: when they happened, who held what, the faults, and how many there were. So a
// history can be judged that is larger than memory would like. Make one with NewFold.
type Fold struct {
	checks  *validator
	left    Remains
	tallies map[F]*Tally
	keys    map[string]string // the one copy of each
	event   Event             // the last one added

	holds    []Hold            // room for more
	answers  []Answer          // room for more
	attempts table[int]        // place in left.Holds, counted from 1; 0 if there is none
	spare    []*Hold           // of acquires that were refused; their places are nil
	crashes  map[int][]Instant // by worker, in order
	faults   map[int]int       // place in left.Faults, by number of the operation
	calls    [][]Op            // by number of the operation, slab by slab; nil: not kept
	keeps    bool              // calls
	unhealed bool              // a fault ended, and nobody knows whether it is over
	healed   int               // the last event at which a fault was over
}

// Remains are what a Fold kept. But for the calls they share nothing with the events.
type Remains struct {
	Times   []time.Duration // of each event
	Calls   []*Op           // of clients, in the order of their invocations; nil unless they were to be kept
	Returns []*Op           // those of the calls that returned, in that order
	Holds   []*Hold         // in the order of their invocations
	Faults  []Op            // in the order of their starts
	Tallies map[F]Tally     // by kind of event
	Readers Tally           // acquires that would share
	Leases  int             // acquires that ask for a lease that ends
	Taken   int             // acquires that were refused because somebody has the lock
	Hit     int             // of these, while a fault was in force
	Missed  []string        // how the steps of a script missed the lock
	Unseen  []string        // why nobody could look at what the lock's servers hold
	// Incidents are calls that did not return, and disturbances, in order. They share their
	// texts with the events.
	Incidents []Event
}

// A Tally counts the events of a kind, and the calls among them.
type Tally struct {
	Events, Calls, OK, Failed int
}

// Unknown is how many of the calls have no known outcome.
func (t Tally) Unknown() int { return t.Calls - t.OK - t.Failed }

// NewFold returns a Fold of no events.
func NewFold() *Fold {
	f := &Fold{
		checks:  newValidator(),
		tallies: make(map[F]*Tally),
		keys:    make(map[string]string),
		crashes: make(map[int][]Instant),
		faults:  make(map[int]int),
	}
	f.checks.pairs.opened, f.checks.pairs.closed = f.opened, f.closed
	return f
}

// KeepCalls makes a Fold of no events keep the calls, too. They share their texts with the events.
func (f *Fold) KeepCalls() { f.keeps = true }

// Add takes the next event.
func (f *Fold) Add(e Event) {
	f.event = e // what follows may point to it, and no heap is needed
	f.add(&f.event)
}

func (f *Fold) add(e *Event) {
	if e.F == Acquire && e.Type == Invoke {
		e.Key = f.key(e.Key)
	}
	f.left.Times = append(f.left.Times, e.Time)
	if e.Type == Info && (e.F == Hung || e.Disturbance()) {
		f.left.Incidents = append(f.left.Incidents, *e)
	}
	f.count(e)
	switch {
	case e.F == Missed && e.Single():
		f.left.Missed = append(f.left.Missed, strings.Clone(e.Value))
	case e.F == Audit && e.Err != "":
		f.left.Unseen = append(f.left.Unseen, strings.Clone(e.Err))
	}
	f.checks.add(e)
	f.end(e)
}

// key returns the one copy of a key, so that the rest of what was read with it can go.
func (f *Fold) key(key string) string {
	one, known := f.keys[key]
	if !known {
		one = strings.Clone(key)
		f.keys[one] = one
	}
	return one
}

// Remains returns what is left of the events so far. The error is that of Validate; then
// the holds are those that could be paired. The Fold must not be used again.
func (f *Fold) Remains() (Remains, error) {
	err := f.checks.found.err()
	left := f.left
	for p := range f.checks.pairs.known.all {
		if p.open && p.call.invoke.F == Extend {
			f.unanswered(&p.call.invoke, Instant{})
		}
	}
	left.Holds = slices.DeleteFunc(left.Holds, func(h *Hold) bool { return h == nil })
	for _, h := range left.Holds {
		f.crash(h)
		slices.SortFunc(h.Unknown, func(a, b Extension) int { return a.Invoked.Event - b.Invoked.Event })
	}
	for _, slab := range f.calls {
		for i := range slab {
			if !slab[i].Fault() {
				left.Calls = append(left.Calls, &slab[i])
			}
		}
	}
	left.Tallies = make(map[F]Tally, len(f.tallies))
	for kind, t := range f.tallies {
		left.Tallies[kind] = *t
	}
	*f = Fold{} // its tables are large
	return left, err
}

func (f *Fold) count(e *Event) {
	t := f.tallies[e.F]
	if t == nil {
		t = new(Tally)
		f.tallies[F(strings.Clone(string(e.F)))] = t
	}
	t.count(e)
	if e.F != Acquire {
		return
	}
	if e.Mode() == Shared {
		f.left.Readers.count(e)
	}
	if e.Type == Invoke && e.TTL > 0 {
		f.left.Leases++
	}
}

func (t *Tally) count(e *Event) {
	t.Events++
	if e.Process == Nemesis {
		return
	}
	switch e.Type {
	case Invoke:
		t.Calls++
	case OK:
		t.OK++
	case Fail:
		t.Failed++
	}
}

// opened takes the beginning of the n-th operation.
func (f *Fold) opened(n int, e *Event) {
	if f.keeps {
		if n%slab == 0 {
			f.calls = append(f.calls, make([]Op, 0, slab))
		}
		last := &f.calls[n/slab]
		*last = append(*last, Op{Invoke: *e})
	}
	switch {
	case e.Process == Nemesis:
		f.faults[n] = len(f.left.Faults)
		f.left.Faults = append(f.left.Faults, Op{Invoke: *e})
	case e.F == Acquire:
		f.acquire(e)
	case e.F == Release:
		if h := f.hold(e.Attempt); h != nil {
			if h.Releases == nil {
				h.Releases = f.answer()
			}
			h.Releases = append(h.Releases, Answer{Invoked: at(e)})
		}
	}
}

// hold is the hold of an attempt, or nil.
func (f *Fold) hold(attempt uint64) *Hold {
	place := *f.attempts.of(attempt)
	if place == 0 {
		return nil
	}
	return f.left.Holds[place-1]
}

func (f *Fold) acquire(e *Event) {
	place := f.attempts.of(e.Attempt)
	if *place != 0 {
		return // the history is not valid
	}
	h := f.room()
	*h = Hold{
		Attempt: e.Attempt, Key: e.Key, Worker: e.Worker, Process: e.Process, Mode: e.Mode(),
		TTL: e.TTL, Invoked: at(e),
	}
	f.left.Holds = append(f.left.Holds, h)
	*place = len(f.left.Holds)
}

// room returns a Hold that nobody has.
func (f *Fold) room() *Hold {
	if last := len(f.spare) - 1; last >= 0 {
		h := f.spare[last]
		f.spare = f.spare[:last]
		return h
	}
	if len(f.holds) == 0 {
		f.holds = make([]Hold, slab)
	}
	h := &f.holds[0]
	f.holds = f.holds[1:]
	return h
}

// answer returns no answers, with room for one. Few attempts have more.
func (f *Fold) answer() []Answer {
	if len(f.answers) == 0 {
		f.answers = make([]Answer, slab)
	}
	one := f.answers[:0:1]
	f.answers = f.answers[1:]
	return one
}

// slab is how many are allocated at once of what there will be many of.
const slab = 64

// closed takes the end of the n-th operation.
func (f *Fold) closed(n int, invoke, e *Event) {
	if e.Process == Nemesis {
		o := &f.left.Faults[f.faults[n]]
		o.Complete, o.Done = *e, true
		delete(f.faults, n)
		f.unhealed, f.healed = f.unhealed || e.Type == Info, e.Index
		return
	}
	if f.keeps {
		o := &f.calls[n/slab][n%slab]
		o.Complete, o.Done = *e, true
		f.left.Returns = append(f.left.Returns, o)
	}
	h := f.hold(e.Attempt)
	switch {
	case h == nil:
	case e.F == Acquire && e.Type == Fail:
		if e.Taken() {
			f.left.Taken++
			if len(f.faults) > 0 || f.unhealed || f.healed > invoke.Index {
				f.left.Hit++
			}
		}
		f.refused(h)
	case e.F == Acquire:
		h.Outcome, h.Deadline, h.Token, h.Returned = e.Type, e.Deadline, e.Token, at(e)
	case e.F == Release:
		// They are in the order of their invocations.
		i, ok := slices.BinarySearchFunc(h.Releases, invoke.Index, func(r Answer, event int) int { return r.Invoked.Event - event })
		if ok {
			h.Releases[i].Returned, h.Releases[i].Outcome = at(e), e.Type
		}
	case e.F == Extend && e.Type == OK:
		h.Extends = append(h.Extends, Extension{Invoked: at(invoke), Returned: at(e), TTL: invoke.TTL, Deadline: e.Deadline})
	case e.F == Extend && e.Type == Info:
		f.unanswered(invoke, at(e))
	}
}

// unanswered takes an extend that may have succeeded.
func (f *Fold) unanswered(invoke *Event, returned Instant) {
	if h := f.hold(invoke.Attempt); h != nil {
		h.Unknown = append(h.Unknown, Extension{Invoked: at(invoke), Returned: returned, TTL: invoke.TTL})
	}
}

// refused forgets an attempt that took nothing.
func (f *Fold) refused(h *Hold) {
	place := f.attempts.of(h.Attempt)
	f.left.Holds[*place-1], *place = nil, 0
	f.spare = append(f.spare, h)
}

// end ends the belief that e ends. What a crash ends is known later: see crash.
func (f *Fold) end(e *Event) {
	if e.Process <= Nemesis {
		return
	}
	switch {
	case e.F == Release && e.Type == Invoke, e.Single() && (e.F == Lost || e.F == Abandon):
		if h := f.hold(e.Attempt); h != nil {
			h.end(e)
		}
	case e.Single() && e.F == Crash:
		f.crashes[e.Worker] = append(f.crashes[e.Worker], at(e))
	}
}

// crash ends a hold at the first crash of its worker, unless it ended before.
func (f *Fold) crash(h *Hold) {
	crashes := f.crashes[h.Worker]
	i, _ := slices.BinarySearchFunc(crashes, h.Invoked.Event, func(c Instant, event int) int { return c.Event - event })
	if i < len(crashes) && (h.Open() || crashes[i].Event < h.Ended.Event) {
		h.Ended, h.End = crashes[i], Crash
	}
}
