package checker

import (
	"slices"

	"github.com/lockbench/lockbench/histories"
)

// A stretch is what happened on one key, or a part of that: see cutter. The judges only read it.
type stretch struct {
	*record
	key     string
	counter bool // somebody increments what the key is of

	number   int               // of the parts of a key, from 0
	from, to int               // the events that belong to this part and to no other; what is told by earlier ones was judged before
	lo       int               // what returned before may be missing
	settled  int               // of a part that is followed by another: who calls at its end began at this event or later
	carried  int               // calls from the parts before
	before   int               // holds of the parts before that were not carried
	ghosts   []*histories.Hold // of these, what a server may have longest, of each client: see ghost

	holds   []*histories.Hold // in order of invocations
	calls   []*histories.Op   // of clients, in order of invocations
	returns []*histories.Op   // those of the calls that returned, in that order; nil of a part
	singles []histories.Event // audits, and what waits cost
	leases  leases
}

// divide returns the stretches of a history, in order of keys.
func (r *record) divide(singles []histories.Event) []*stretch {
	byKey := make(map[string]*stretch)
	var last *stretch // as large histories have one key
	of := func(key string) *stretch {
		if last != nil && last.key == key {
			return last
		}
		last = byKey[key]
		if last == nil {
			last = &stretch{record: r, key: key, to: len(r.Times)}
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
		s.calls, s.counter = append(s.calls, o), s.counter || o.Invoke.F == histories.Incr
	}
	for _, o := range r.Returns {
		s := of(o.Invoke.Key)
		s.returns = append(s.returns, o)
	}
	for _, e := range singles {
		s := of(e.Key)
		s.singles = append(s.singles, e)
	}
	all := make([]*stretch, 0, len(byKey))
	for _, key := range sortedKeys(byKey) {
		s := byKey[key]
		s.leases = newLeases(s.holds)
		all = append(all, s)
	}
	return all
}

// held says whether f is true of any hold of a history.
func (r *record) held(f func(*histories.Hold) bool) bool {
	return slices.ContainsFunc(r.stretches, func(s *stretch) bool { return slices.ContainsFunc(s.holds, f) })
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
	e.n += o.n
	if o.first != nil && (e.first == nil || o.first.last() < e.first.last()) {
		e.first = o.first
	}
}

// add takes conflicts of a stretch, but for those that an earlier one has had.
func (e *conflicts) add(s *stretch, found ...*conflict) {
	for _, c := range found {
		if s.mine(c.last()) {
			e.take(conflicts{1, c})
		}
	}
}

// last is the event that completes the evidence.
func (c *conflict) last() int { return slices.Max(c.witness) }
