package checker

import (
	"slices"

	"github.com/lockbench/lockbench/histories"
)

// A stretch is what happened on one key. The judges only read it.
type stretch struct {
	*record
	key     string
	holds   []*histories.Hold // in order of invocations
	calls   []*histories.Op   // of clients, in order of invocations
	singles []histories.Event // audits, and what waits cost
	leases  leases
}

// divide returns the stretches of a history, in order of keys.
func (r *record) divide(events []histories.Event) []*stretch {
	byKey := make(map[string]*stretch)
	var last *stretch // as large histories have one key
	of := func(key string) *stretch {
		if last != nil && last.key == key {
			return last
		}
		last = byKey[key]
		if last == nil {
			last = &stretch{record: r, key: key}
			byKey[key] = last
		}
		return last
	}
	for _, h := range r.Holds {
		s := of(h.Key)
		s.holds = append(s.holds, h)
	}
	for _, o := range r.Calls {
		s := of(o.Invoke.Key)
		s.calls = append(s.calls, o)
	}
	for _, e := range events {
		if e.F == histories.Audit || e.F == histories.Waited {
			s := of(e.Key)
			s.singles = append(s.singles, e)
		}
	}
	all := make([]*stretch, 0, len(byKey))
	for _, key := range sortedKeys(byKey) {
		s := byKey[key]
		s.leases = newLeases(s.holds)
		all = append(all, s)
	}
	return all
}

// acquires are the acquires among the calls, but for those whose arguments were refused: they asked
// nobody for the lock.
func (s *stretch) acquires() []*histories.Op {
	var all []*histories.Op
	for _, o := range s.calls {
		if o.Invoke.F == histories.Acquire && !o.Complete.Invalid() {
			all = append(all, o)
		}
	}
	return all
}

// counts says whether the key is that of a counter: somebody increments it.
func (s *stretch) counts() bool {
	return slices.ContainsFunc(s.calls, func(o *histories.Op) bool { return o.Invoke.F == histories.Incr })
}

// A conflict is the evidence of a violation.
type conflict struct {
	witness []int
	story   string
}

// conflicts are what speaks against a lock: how many there are, and the first of them to be complete.
type conflicts struct {
	n     int
	first *conflict
}

// take takes what others have.
func (e *conflicts) take(o conflicts) {
	if o.first != nil {
		e.add(o.first)
		e.n += o.n - 1
	}
}

// add takes conflicts.
func (e *conflicts) add(found ...*conflict) {
	for _, c := range found {
		e.n++
		if e.first == nil || slices.Max(c.witness) < slices.Max(e.first.witness) {
			e.first = c
		}
	}
}
