package checker

import (
	"slices"
	"time"

	"github.com/lockbench/lockbench/histories"
)

// A conflict is the evidence of a violation.
type conflict struct {
	witness []int
	story   string
	called  []called // what the witness names of earlier stretches
	frame   frame
}

// called is a call, as a frame has to know it.
type called struct {
	attempt           uint64
	invoked, returned histories.Instant
	op                *histories.Op // nil: it is not kept
}

// calledBy is a call that returned.
func calledBy(o *histories.Op) called {
	return called{o.Invoke.Attempt, instant(&o.Invoke), instant(&o.Complete), o}
}

// acquired is the acquire of a hold.
func acquired(h *histories.Hold) called { return called{h.Attempt, h.Invoked, h.Returned, nil} }

// A frame is what belongs to a conflict.
type frame struct {
	attempts []uint64
	window   *Window
	events   []histories.Event
	from, to time.Duration // of the witness
}

// conflicts are what speaks against a lock: how many there are, and the first of them to be complete.
type conflicts struct {
	n     int
	first *conflict
}

// take takes what others have.
func (e *conflicts) take(o conflicts) {
	e.n += o.n
	if o.first != nil && (e.first == nil || o.first.last() < e.first.last()) {
		e.first = o.first
	}
}

// add takes conflicts of a stretch, but for those that an earlier one has had.
func (e *conflicts) add(s *stretch, found ...*conflict) {
	var all conflicts
	for _, c := range found {
		if s.mine(c.last()) {
			all.take(conflicts{1, c})
		}
	}
	if e.take(all); e.first != nil && e.first == all.first {
		s.draw(e.first)
	}
}

// last is the event that completes the evidence.
func (c *conflict) last() int { return slices.Max(c.witness) }

// A finding is a Result, and what proves it.
type finding struct {
	Result
	proof frame
}

// prove makes a Fail of a finding.
func (res *finding) prove(c *conflict, story string) {
	res.Verdict, res.Story = Fail, story
	res.Witness = slices.Sorted(slices.Values(c.witness))
	res.Attempts, res.Window, res.Events, res.proof = c.frame.attempts, c.frame.window, c.frame.events, c.frame
}
