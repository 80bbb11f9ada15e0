package certificate

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/lockbench/lockbench/histories"
)

// Bounds of a proof by calls.
const (
	maxCalls = 16      // of the attempts that are named
	maxTries = 200_000 // of effects, in all orders
)

// calls proves that no order explains the calls of some attempts up to an event, on a Lock: whichever
// took effect first, and whatever became of those of unknown outcome, some answer is untrue.
//
// What others did makes nothing of it true: without them, an order that explains all calls still explains
// these, unless an acquire was refused. That is asked for if nobody else calls on the key, and if nobody
// else's acquire is under way.
type calls struct {
	v      *Verdict
	last   int
	calls  []call
	open   map[int]int // place in calls, by process
	begun  bool
	alone  bool // nobody else calls on the key
	shared bool // an attempt is ready to share, in a way that proves nothing
	faults faults
}

func newCalls(v *Verdict) (proof, error) {
	at, err := roles(v, "last")
	if err != nil {
		return nil, err
	}
	if !slices.IsSorted(v.Attempts) || len(v.Attempts) == 0 || len(slices.Compact(slices.Clone(v.Attempts))) != len(v.Attempts) {
		return nil, fmt.Errorf("it names the attempts %d, want them in order, each once", v.Attempts)
	}
	return &calls{v: v, last: at[0], open: make(map[int]int), alone: true, faults: newFaults()}, nil
}

func (p *calls) event(e *histories.Event) {
	if e.Index > p.last {
		return
	}
	p.faults.event(e, p.begun)
	if e.Process < 0 || e.Type != histories.Invoke || e.Key != p.v.Key || !locks(e.F) {
		return
	}
	if !slices.Contains(p.v.Attempts, e.Attempt) {
		p.alone = false
		return
	}
	if !p.begun {
		p.begun = true
		p.faults.begin()
	}
	p.shared = p.shared || e.Mode() == histories.Reentrant || e.Mode() == histories.Shared && p.v.Rule == truthfulReplies
	if len(p.calls) <= maxCalls {
		p.open[e.Process] = len(p.calls)
		p.calls = append(p.calls, call{invoke: *e})
	}
}

func (p *calls) answered(c *call) {
	i, ok := p.open[c.invoke.Process]
	if !ok || c.answer.Index > p.last {
		return
	}
	delete(p.open, c.invoke.Process)
	p.calls[i].answer = c.answer
	if c.answer.Type == histories.Fail && p.faults.during(c.invoke.Index) {
		p.calls[i].answer = histories.Event{} // it may have been asked twice
	}
}

func (p *calls) bounds() ([]Bound, error) {
	switch {
	case len(p.calls) == 0:
		return nil, fmt.Errorf("the attempts %d make no calls on %q up to event %d", p.v.Attempts, p.v.Key, p.last)
	case len(p.calls) > maxCalls:
		return nil, fmt.Errorf("the attempts make more than %d calls", maxCalls)
	case p.shared:
		return nil, errors.New("an attempt is ready to share its key, which proves nothing here")
	case p.faults.broken >= 0:
		return nil, fmt.Errorf("a fault was in force at event %d that may have made a server forget", p.faults.broken)
	}
	s := search{tokens: p.v.Rule == fencing}
	var attempts []uint64
	for _, c := range p.calls {
		if !slices.Contains(attempts, c.invoke.Attempt) {
			attempts = append(attempts, c.invoke.Attempt)
		}
		if p.counts(&c) {
			s.calls = append(s.calls, c)
		}
	}
	if slices.Sort(attempts); !slices.Equal(attempts, p.v.Attempts) {
		return nil, fmt.Errorf("it is of the attempts %d, and those that make calls are %d", p.v.Attempts, attempts)
	}
	s.done = make([]bool, len(s.calls))
	switch {
	case s.explains(Lock{}, 0):
		return nil, fmt.Errorf("there is an order that explains the %d calls", len(s.calls))
	case s.tries > maxTries:
		return nil, fmt.Errorf("the %d calls have too many orders", len(s.calls))
	}
	return []Bound{most("calls that no order explains", len(s.calls), "calls at most", maxCalls)}, nil
}

// counts says whether an answer is one that an order must explain, or may need.
func (p *calls) counts(c *call) bool {
	switch {
	case c.answer.Type != histories.Fail:
		return true
	case c.invoke.F != histories.Acquire || !refused(&c.answer):
		return refused(&c.answer)
	}
	return p.alone && !slices.ContainsFunc(p.calls, func(o call) bool {
		over := o.answer.Type != histories.Info && o.answer.Index < c.invoke.Index
		return o.invoke.F == histories.Acquire && o.invoke.Attempt != c.invoke.Attempt && o.invoke.Index < c.answer.Index && !over && o.answer.Type != histories.OK
	})
}

// search looks for an order of calls that explains their answers.
type search struct {
	calls  []call // in the order of their invocations
	done   []bool // they took effect
	tokens bool   // of grants must rise
	tries  int
}

// explains says whether the calls that are not done can take effect on a lock from an instant on. What
// has no known outcome need not. A later instant makes no more possible, so that each call takes effect
// as early as it can.
func (s *search) explains(l Lock, now time.Duration) bool {
	next := s.next()
	if len(next) == 0 {
		return true
	}
	for _, i := range next {
		if s.tries++; s.tries > maxTries {
			return false
		}
		c := &s.calls[i]
		known := c.answer.Type != histories.Info
		granted := c.answer.Type != histories.Fail
		at, ok := l.When(&c.invoke, granted, max(now, c.invoke.Time))
		if !ok || known && at > c.answer.Time {
			continue
		}
		after := Lock{slices.Clone(l.holds), l.token}
		if s.tokens && granted && !after.Issue(&c.invoke, c.answer.Token) {
			continue
		}
		after.Take(&c.invoke, granted, at)
		s.done[i] = true
		if s.explains(after, at) {
			return true
		}
		s.done[i] = false
	}
	return false
}

// next returns the calls that may take effect next: those invoked before the first of the others must
// have taken effect. It is empty if none is left that must.
func (s *search) next() []int {
	first := -1 // the event by which some call must have taken effect
	for i, c := range s.calls {
		if !s.done[i] && c.answer.Type != histories.Info && (first < 0 || c.answer.Index < first) {
			first = c.answer.Index
		}
	}
	var found []int
	for i, c := range s.calls {
		if !s.done[i] && c.invoke.Index < first {
			found = append(found, i)
		}
	}
	return found
}
