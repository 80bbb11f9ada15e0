package checker

import (
	"slices"

	"github.com/lockbench/lockbench/histories"
)

// A stretch is what happened on one key, or a part of that: see cutter. The judges only read it.
type stretch struct {
	*record
	clock
	key     string
	counter bool // somebody has incremented what the key is of

	whole    bool              // the history ended with it
	number   int               // of the parts of a key, from 0
	from, to int               // the events that belong to this part and to no other; what is told by earlier ones was judged before
	lo       int               // what returned before may be missing
	settled  int               // of a part that is followed by another: who calls at its end began at this event or later
	carried  int               // calls from the parts before
	before   int               // holds of the parts before that were not carried
	ghosts   []*histories.Hold // of these, what a server may have longest, of each client: see ghost

	holds   []*histories.Hold // in order of invocations
	calls   []*histories.Op   // of clients, in order of invocations
	singles []histories.Event // audits, what waits cost, and what ended holds other than calls
	leases  leases
	small   smallRulings
	ill     []*histories.Op // faults that were in force, or left something behind

	awaited int // calls that were under way at its end, and are still
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

// asked reports whether the acquire of an attempt is known.
func (s *stretch) asked(attempt uint64) bool {
	return s.number == 0 || slices.ContainsFunc(s.calls, func(o *histories.Op) bool {
		return o.Invoke.F == histories.Acquire && o.Invoke.Attempt == attempt
	})
}

// end is the event at which a call returned, or the last one so far if it did not.
func (s *stretch) end(o *histories.Op) histories.Instant {
	if o.Done {
		return instant(&o.Complete)
	}
	return s.record.last
}

// mine reports whether an event belongs to the stretch and to no other.
func (s *stretch) mine(event int) bool { return s.from <= event && event < s.to }
