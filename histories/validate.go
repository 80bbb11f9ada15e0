package histories

import (
	"errors"
	"fmt"
	"time"
)

// Validate says whether a history can be judged at all. A violation means that the
// harness, or whoever wrote the history, is wrong, not the lock. Beyond what Pair asks:
//
//   - Index counts from 0 without gaps, and Time never goes back.
//   - A process belongs to one worker for good.
//   - Every acquire has an Attempt of its own, not 0.
//   - A release, extend, read, write, lost or abandon carries an Attempt whose acquire
//     the same worker invoked before. Release and extend name the acquire's Key.
//
// The error joins one sentence per violation, each with its event, up to a limit.
func Validate(events []Event) error {
	var found problems
	v := validator{
		found:    &found,
		pairs:    newPairer(events, &found),
		next:     0,
		workers:  make(map[int]int),
		acquires: make(map[uint64]acquire),
	}
	for _, e := range events {
		v.order(e)
		v.pairs.add(e)
		v.worker(e)
		v.attempt(e)
	}
	return found.err()
}

type validator struct {
	found    *problems
	pairs    *pairer
	next     int // the index that comes next
	last     time.Duration
	workers  map[int]int // of each process
	acquires map[uint64]acquire
}

// acquire is what later events of an attempt are held against.
type acquire struct {
	event  int
	worker int
	key    string
}

func (v *validator) order(e Event) {
	if e.Index != v.next {
		v.found.add(e, "index is %d, want %d: indexes count from 0 without gaps", e.Index, v.next)
	}
	v.next = e.Index + 1
	if e.Time < v.last {
		v.found.add(e, "time is %d ns, before the %d ns of the event before it", int64(e.Time), int64(v.last))
	}
	v.last = e.Time
}

func (v *validator) worker(e Event) {
	if e.Process <= Nemesis {
		return
	}
	w, known := v.workers[e.Process]
	if !known {
		v.workers[e.Process] = e.Worker
	} else if w != e.Worker {
		v.found.add(e, "process %d belongs to worker %d, found worker %d", e.Process, w, e.Worker)
	}
}

func (v *validator) attempt(e Event) {
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
	case e.Type == Invoke && (e.F == Read || e.F == Write), e.Single() && (e.F == Lost || e.F == Abandon):
		v.holder(e)
	}
}

func (v *validator) acquire(e Event) {
	if e.Attempt == 0 {
		v.found.add(e, "acquire has no attempt, want a number of its own")
		return
	}
	if a, used := v.acquires[e.Attempt]; used {
		v.found.add(e, "acquire has attempt %d, which the acquire of event %d used before", e.Attempt, a.event)
		return
	}
	v.acquires[e.Attempt] = acquire{event: e.Index, worker: e.Worker, key: e.Key}
}

func (v *validator) holder(e Event) (acquire, bool) {
	a, known := v.acquires[e.Attempt]
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

// problems collects violations, the first few in full.
type problems struct {
	errs []error
	more int
}

const maxProblems = 20

func (p *problems) add(e Event, format string, args ...any) {
	if len(p.errs) == maxProblems {
		p.more++
		return
	}
	p.errs = append(p.errs, fmt.Errorf("event %d: %s", e.Index, fmt.Sprintf(format, args...)))
}

func (p *problems) err() error {
	if p.more == 0 {
		return errors.Join(p.errs...)
	}
	return errors.Join(append(p.errs, fmt.Errorf("and %d more", p.more))...)
}
