package histories

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"
)

// Validate reports whether a history can be judged at all. A violation means that the
// harness, or whoever wrote the history, is wrong, not the lock. Beyond what Pair asks:
//
//   - Index counts from 0 without gaps, and Time never goes back.
//   - Version counts writes, from 0.
//   - A process belongs to one worker for good.
//   - Every acquire has an Attempt of its own, not 0.
//   - A release, extend, read, write, incr, draw, lost, abandon or waited carries an Attempt whose
//     acquire the same worker invoked before. Release and extend name the acquire's Key.
//
// The error joins one sentence per violation, each with its event, up to a limit.
func Validate(events []Event) error {
	v := newValidator()
	for i := range events {
		v.add(&events[i])
	}
	return v.found.err()
}

// validator validates events as they come. It keeps open calls and what later events are
// held against, and no other event.
type validator struct {
	found    *problems
	pairs    *pairer
	next     int // the index that comes next
	last     time.Duration
	acquires map[uint64]*acquire // by attempt, but for those that are forgotten
	sought   uint64              // attempt that was asked for
	latest   *acquire            // of it, or nil
	spent    numbers             // attempts that are forgotten
}

func newValidator() *validator {
	found := &problems{}
	return &validator{found: found, pairs: &pairer{found: found}, acquires: make(map[uint64]*acquire)}
}

// mostVersion is the highest version, so that there is one behind any.
const mostVersion = math.MaxInt64 - 1

// acquire is what later events of an attempt are held against.
type acquire struct {
	event  int
	worker int
	key    string
	hold   *Hold // if somebody pairs holds; nil once it was refused
}

func (v *validator) add(e *Event) {
	v.order(e)
	v.worker(e)
	v.attempt(e)
	v.pairs.add(e) // who hears of pairs may ask for the attempt
}

func (v *validator) order(e *Event) {
	if e.Index != v.next {
		v.found.add(e, "index is %d, want %d: indexes count from 0 without gaps", e.Index, v.next)
	}
	v.next = e.Index + 1
	if e.Time < v.last {
		v.found.add(e, "time is %d ns, before the %d ns of the event before it", int64(e.Time), int64(v.last))
	}
	v.last = e.Time
	if e.Version < 0 || e.Version > mostVersion {
		v.found.add(e, "version is %d, want 0 to %d: it counts writes", e.Version, int64(mostVersion))
	}
}

func (v *validator) worker(e *Event) {
	if e.Process <= Nemesis {
		return
	}
	p := v.pairs.process(e.Process)
	if !p.known {
		p.known, p.worker = true, e.Worker
	} else if p.worker != e.Worker {
		v.found.add(e, "process %d belongs to worker %d, found worker %d", e.Process, p.worker, e.Worker)
	}
}

func (v *validator) attempt(e *Event) {
	if e.Process <= Nemesis {
		return
	}
	switch {
	case e.F == Acquire && e.Type == Invoke:
		v.acquire(e)
	case e.Type == Invoke && (e.F == Release || e.F == Extend):
		if a, ok := v.holder(e); ok && a.key != e.Key {
			v.found.add(e, "%s of %q carries attempt %d, whose acquire (event %d) was of %q", e.F, e.Key, e.Attempt, a.event, a.key)
		}
	case e.Type == Invoke && (e.F == Read || e.F == Write || e.F == Incr || e.F == Draw), e.Single() && (e.F == Lost || e.F == Abandon || e.F == Waited):
		v.holder(e)
	}
}

func (v *validator) acquire(e *Event) {
	if e.Attempt == 0 {
		v.found.add(e, "acquire has no attempt, want a number of its own")
		return
	}
	switch a := v.of(e.Attempt); {
	case a != nil:
		v.found.add(e, "acquire has attempt %d, which the acquire of event %d used before", e.Attempt, a.event)
	case v.spent.has(e.Attempt):
		v.found.add(e, "acquire has attempt %d, which an acquire used before", e.Attempt)
	default:
		a = &acquire{event: e.Index, worker: e.Worker, key: e.Key}
		v.acquires[e.Attempt], v.latest = a, a
	}
}

func (v *validator) holder(e *Event) (a acquire, ok bool) {
	found := v.of(e.Attempt)
	known := found != nil
	if !known && v.spent.has(e.Attempt) {
		return a, false // its worker and its key are not known any more
	}
	if known {
		a = *found
	}
	switch {
	case !known && e.Attempt == 0:
		v.found.add(e, "%s has no attempt, want that of the acquire it belongs to", e.F)
	case !known:
		v.found.add(e, "%s carries attempt %d, which no acquire before it has", e.F, e.Attempt)
	case a.worker != e.Worker:
		v.found.add(e, "%s by worker %d carries attempt %d, which worker %d acquired (event %d)", e.F, e.Worker, e.Attempt, a.worker, a.event)
	}
	return a, known
}

// forget forgets an attempt, but for that its number is taken.
func (v *validator) forget(attempt uint64) {
	if v.of(attempt) != nil {
		delete(v.acquires, attempt)
		v.spent.add(attempt)
		v.latest = nil
	}
}

// of is what is known of an attempt, or nil. It is asked of the same one again and again.
func (v *validator) of(attempt uint64) *acquire {
	if v.sought != attempt || v.latest == nil {
		v.sought, v.latest = attempt, v.acquires[attempt]
	}
	return v.latest
}

// problems collects violations, the first few in full.
type problems struct {
	first int // event
	errs  []error
	more  int
}

const maxProblems = 20

func (p *problems) add(e *Event, format string, args ...any) {
	if len(p.errs) == 0 {
		p.first = e.Index
	}
	if len(p.errs) == maxProblems {
		p.more++
		return
	}
	p.errs = append(p.errs, fmt.Errorf("event %d: %s", e.Index, fmt.Sprintf(format, args...)))
}

func (p *problems) err() error {
	if len(p.errs) == 0 {
		return nil
	}
	errs := slices.Clone(p.errs)
	if p.more > 0 {
		errs = append(errs, fmt.Errorf("and %d more", p.more))
	}
	return &InvalidError{First: p.first, violations: errors.Join(errs...)}
}

// An InvalidError says how a history breaks the rules of Validate and Pair.
type InvalidError struct {
	First      int // event at which it first does
	violations error
}

func (e *InvalidError) Error() string { return e.violations.Error() }
func (e *InvalidError) Unwrap() error { return e.violations }
