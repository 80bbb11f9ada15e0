package histories

import (
	"slices"
	"strings"
)

// A Summarizer takes a history event by event, pairs it, and hands on each call as it begins and as it
// ends. Of the events it keeps what later ones are held against: the calls that are under way and
// the attempts that nobody has said to forget. So a history can be judged that is larger than
// memory. Make one with NewSummarizer.
type Summarizer struct {
	checks  *validator
	left    Summary
	tallies map[F]*Tally

	began, ended func(*Op)
	gone         func(*Hold, *Event)

	open     map[int][]*Hold // of them those that nothing has ended, by worker
	sick     int             // faults that have not ended
	unhealed bool            // a fault ended, and nobody knows whether it is over
	healed   int             // the last event at which a fault was over
}

// A Summary is what a Summarizer knows of the events so far, all keys together.
type Summary struct {
	Events  int
	Faults  []*Op       // in the order of their starts
	Tallies map[F]Tally // by kind of event
	Readers Tally       // acquires that would share
	Leases  int         // acquires that ask for a lease that ends
	Taken   int         // acquires that were refused because somebody has the lock
	Hit     int         // of these, while a fault was in force
	Missed  []string    // how the steps of a script missed the lock
	Unseen  []string    // why nobody could look at what the lock's servers hold
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

// Hooks are told of what a Summarizer pairs. Each may be nil.
type Hooks struct {
	Began func(*Op)           // a client's call; of an acquire, the Summarizer has its Hold by then
	Ended func(*Op)           // it returned; its Hold tells what came of it
	Over  func(*Hold, *Event) // a belief was ended by an event that is no call
}

// NewSummarizer returns a Summarizer of no events.
func NewSummarizer(hooks Hooks) *Summarizer {
	f := &Summarizer{
		checks:  newValidator(),
		tallies: make(map[F]*Tally),
		open:    make(map[int][]*Hold),
		began:   hooks.Began, ended: hooks.Ended, gone: hooks.Over,
	}
	f.checks.pairs.opened, f.checks.pairs.closed = f.opened, f.closed
	return f
}

// Add takes the next event, of which it keeps a copy where it has to.
func (f *Summarizer) Add(e *Event) {
	f.left.Events++
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

// Hold returns the hold of an attempt, or nil if it was refused, was forgotten or never began.
func (f *Summarizer) Hold(attempt uint64) *Hold {
	if a := f.checks.of(attempt); a != nil {
		return a.hold
	}
	return nil
}

// Call returns the call that a process has under way, or nil.
func (f *Summarizer) Call(process int) *Op {
	if p := f.checks.pairs.process(process); p.open {
		return p.call
	}
	return nil
}

// Forget forgets an attempt. What is called for it later belongs to no hold.
func (f *Summarizer) Forget(attempt uint64) {
	if h := f.Hold(attempt); h != nil {
		f.close(h)
	}
	f.checks.forget(attempt)
}

// Doubt takes a call that is under way for one that may have had its effect, until it returns.
func (f *Summarizer) Doubt(o *Op) { f.unanswered(o) }

// Err is the error of Validate so far.
func (f *Summarizer) Err() error { return f.checks.found.err() }

// Finish takes the end of the history: the calls under way have no outcome.
func (f *Summarizer) Finish() {
	for p := range f.checks.pairs.known.all {
		if p.open {
			f.unanswered(p.call)
		}
	}
}

// Summary returns what is known of the events so far. The error is that of Validate.
func (f *Summarizer) Summary() (Summary, error) {
	left := f.left
	left.Tallies = make(map[F]Tally, len(f.tallies))
	for kind, t := range f.tallies {
		left.Tallies[kind] = *t
	}
	return left, f.checks.found.err()
}

func (f *Summarizer) count(e *Event) {
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

// opened takes the beginning of an operation.
func (f *Summarizer) opened(o *Op) {
	e := &o.Invoke
	if e.Process == Nemesis {
		f.left.Faults = append(f.left.Faults, o)
		f.sick++
		return
	}
	switch e.F {
	case Acquire:
		f.acquire(e)
	case Release:
		if h := f.Hold(e.Attempt); h != nil {
			h.Releases = append(h.Releases, Answer{Invoked: at(e)})
		}
	}
	if f.began != nil {
		f.began(o)
	}
}

func (f *Summarizer) acquire(e *Event) {
	a := f.checks.of(e.Attempt)
	if a == nil || a.event != e.Index {
		return // the history is not valid
	}
	h := &Hold{
		Attempt: e.Attempt, Key: e.Key, Worker: e.Worker, Process: e.Process, Mode: e.Mode(),
		TTL: e.TTL, Invoked: at(e),
	}
	a.hold = h
	f.open[e.Worker] = append(f.open[e.Worker], h)
}

// closed takes the end of an operation.
func (f *Summarizer) closed(o *Op) {
	e := &o.Complete
	if e.Process == Nemesis {
		f.sick--
		f.unhealed, f.healed = f.unhealed || e.Type == Info, e.Index
		return
	}
	f.answered(o)
	if f.ended != nil {
		f.ended(o)
	}
}

// answered tells the hold of a call what came of that.
func (f *Summarizer) answered(o *Op) {
	e := &o.Complete
	h := f.Hold(e.Attempt)
	switch {
	case h == nil:
	case e.F == Acquire && e.Type == Fail:
		if e.Taken() {
			f.left.Taken++
			if f.sick > 0 || f.unhealed || f.healed > o.Invoke.Index {
				f.left.Hit++
			}
		}
		h.Outcome, h.Returned = Fail, at(e)
		f.checks.of(h.Attempt).hold = nil
		f.close(h)
	case e.F == Acquire:
		h.Outcome, h.Deadline, h.Token, h.Returned = e.Type, e.Deadline, e.Token, at(e)
	case e.F == Release:
		// They are in the order of their invocations.
		i, ok := slices.BinarySearchFunc(h.Releases, o.Invoke.Index, func(r Answer, event int) int { return r.Invoked.Event - event })
		if ok {
			h.Releases[i].Returned, h.Releases[i].Outcome = at(e), e.Type
		}
	case e.F == Extend && e.Type != Info && e.Type != OK:
		h.forget(o.Invoke.Index)
	case e.F == Extend && e.Type == OK:
		h.forget(o.Invoke.Index)
		h.Extends = append(h.Extends, Extension{Invoked: at(&o.Invoke), Returned: at(e), TTL: o.Invoke.TTL, Deadline: e.Deadline})
	case e.F == Extend && e.Type == Info:
		f.unanswered(o)
	}
}

// unanswered takes a call that may have succeeded.
func (f *Summarizer) unanswered(o *Op) {
	h := f.Hold(o.Invoke.Attempt)
	if h == nil || o.Invoke.F != Extend {
		return
	}
	x := Extension{Invoked: at(&o.Invoke), TTL: o.Invoke.TTL}
	if o.Done {
		x.Returned = at(&o.Complete)
	}
	i, known := slices.BinarySearchFunc(h.Unknown, x.Invoked.Event, func(u Extension, event int) int { return u.Invoked.Event - event })
	if known {
		h.Unknown[i] = x
	} else {
		h.Unknown = slices.Insert(h.Unknown, i, x)
	}
}

// forget takes an extend from those of unknown outcome, as one of a client that was said to have crashed.
func (h *Hold) forget(invoked int) {
	h.Unknown = slices.DeleteFunc(h.Unknown, func(x Extension) bool { return x.Invoked.Event == invoked })
}

// end ends the beliefs that e ends.
func (f *Summarizer) end(e *Event) {
	if e.Process <= Nemesis {
		return
	}
	switch {
	case e.F == Release && e.Type == Invoke:
		if h := f.Hold(e.Attempt); h != nil && h.Open() && e.Index > h.Invoked.Event {
			f.over(h, e)
		}
	case e.Single() && (e.F == Lost || e.F == Abandon):
		if h := f.Hold(e.Attempt); h != nil && h.Open() && e.Index > h.Invoked.Event {
			f.over(h, e)
			f.tell(h, e)
		}
	case e.Single() && e.F == Crash:
		f.crash(e)
	}
}

// crash takes the end of a client: a call of its process has no outcome, and it believes in nothing
// any more.
func (f *Summarizer) crash(e *Event) {
	if o := f.Call(e.Process); o != nil {
		f.unanswered(o)
	}
	for _, h := range slices.Clone(f.open[e.Worker]) {
		f.over(h, e)
		f.tell(h, e)
	}
}

func (f *Summarizer) tell(h *Hold, e *Event) {
	if f.gone != nil {
		f.gone(h, e)
	}
}

// over ends the belief in h at e.
func (f *Summarizer) over(h *Hold, e *Event) {
	h.Ended, h.End = at(e), e.F
	f.close(h)
}

// close takes h from those that nothing has ended.
func (f *Summarizer) close(h *Hold) {
	open := f.open[h.Worker]
	i := slices.Index(open, h)
	switch {
	case i < 0:
	case len(open) == 1:
		delete(f.open, h.Worker)
	default:
		f.open[h.Worker] = slices.Delete(open, i, i+1)
	}
}
