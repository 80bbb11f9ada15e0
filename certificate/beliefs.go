package certificate

import (
	"fmt"
	"time"

	"github.com/lockbench/lockbench/histories"
)

// beliefs proves that mutual exclusion or lease exclusion holds: whenever an attempt is granted its key,
// nobody believes that he has it who may not share it. It keeps the attempts that are believed in, or
// that may be yet.
type beliefs struct {
	rule     string
	attempts map[uint64]*belief
	workers  map[int]map[uint64]*belief
	keys     map[string]*believers
	failed   error
}

// A belief is an attempt that was asked for, was not refused, and has not ended.
type belief struct {
	asked histories.Event // the acquire's invocation
	until time.Duration   // the deadline that was told, forever if there was none
	held  bool            // it is believed in
	known bool            // it was, or its acquire was answered by ok
	ended bool
}

// believers are those who believe that they have a key.
type believers struct {
	held  map[uint64]*belief
	since int // the event at which the first of them got it, when nobody had
}

func newBeliefs(v *Verdict) *beliefs {
	return &beliefs{rule: v.Rule, attempts: make(map[uint64]*belief), workers: make(map[int]map[uint64]*belief), keys: make(map[string]*believers)}
}

func (p *beliefs) event(e *histories.Event) {
	switch {
	case e.Process < 0:
	case e.F == histories.Acquire && e.Type == histories.Invoke:
		b := &belief{asked: *e}
		p.attempts[e.Attempt] = b
		if p.workers[e.Worker] == nil {
			p.workers[e.Worker] = make(map[uint64]*belief)
		}
		p.workers[e.Worker][e.Attempt] = b
	case ends(e) && e.F == histories.Crash:
		for _, b := range p.workers[e.Worker] {
			p.end(b)
		}
	case ends(e):
		if b := p.attempts[e.Attempt]; b != nil {
			p.end(b)
		}
	}
}

// end ends a belief. An acquire of unknown outcome may still be seen to have been granted.
func (p *beliefs) end(b *belief) {
	p.drop(b)
	if b.ended = true; b.known {
		p.forget(b)
	}
}

func (p *beliefs) drop(b *belief) {
	if b.held {
		b.held = false
		delete(p.keys[b.asked.Key].held, b.asked.Attempt)
	}
}

func (p *beliefs) forget(b *belief) {
	delete(p.attempts, b.asked.Attempt)
	delete(p.workers[b.asked.Worker], b.asked.Attempt)
}

func (p *beliefs) answered(c *call) {
	b := p.attempts[c.invoke.Attempt]
	if b == nil || p.failed != nil {
		return
	}
	switch ok := c.answer.Type == histories.OK; {
	case c.invoke.F == histories.Acquire && c.answer.Type == histories.Fail:
		p.forget(b)
	case c.invoke.F == histories.Acquire && ok && b.ended: // nobody ever believed in it
		p.forget(b)
	case (c.invoke.F == histories.Acquire || c.invoke.F == histories.Extend && !b.ended) && ok:
		p.grant(b, c)
	case c.invoke.F == histories.Release && ok && !b.known:
		p.had(b, c)
		p.forget(b)
	}
}

// grant lets an attempt be believed in from the answer to its acquire or extend on.
func (p *beliefs) grant(b *belief, c *call) {
	k := p.at(&c.answer)
	was := b.held
	b.known, b.until = true, forever
	if p.rule == leaseExclusion && c.answer.Deadline > 0 {
		b.until = c.answer.Deadline
	}
	switch {
	case was:
		return
	case b.until <= c.answer.Time: // it is over
		if c.invoke.F == histories.Acquire {
			p.had(b, c)
		}
		return
	}
	for _, other := range k.held {
		if !shares(&b.asked, &other.asked) {
			p.failed = fmt.Errorf("attempt %d is granted %q at event %d, and attempt %d is still believed in", b.asked.Attempt, c.invoke.Key, c.answer.Index, other.asked.Attempt)
			return
		}
	}
	if len(k.held) == 0 {
		k.since = c.answer.Index
	}
	b.held, k.held[b.asked.Attempt] = true, b
}

// had wants an instant of a call at which the attempt can have had its key.
func (p *beliefs) had(b *belief, c *call) {
	k := p.at(&c.answer)
	for _, other := range k.held {
		if !shares(&b.asked, &other.asked) && k.since < c.invoke.Index {
			p.failed = fmt.Errorf("attempt %d had %q at some time from event %d to %d, and attempt %d was believed in all that time",
				b.asked.Attempt, c.invoke.Key, c.invoke.Index, c.answer.Index, other.asked.Attempt)
		}
	}
}

// at returns who believes at an event that he has its key.
func (p *beliefs) at(e *histories.Event) *believers {
	k := p.keys[e.Key]
	if k == nil {
		k = &believers{held: make(map[uint64]*belief)}
		p.keys[e.Key] = k
	}
	for _, b := range k.held {
		if b.until <= e.Time {
			p.drop(b)
		}
	}
	return k
}

func (p *beliefs) bounds() ([]Bound, error) { return nil, p.failed }
