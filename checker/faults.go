package checker

import (
	"cmp"
	"slices"

	"github.com/lockbench/lockbench/histories"
)

// healed says whether a fault is known to be over. One whose end was not recorded,
// or recorded as of unknown outcome, may be in force for ever.
func healed(fault histories.Op) bool {
	return fault.Done && fault.Complete.Type != histories.Info
}

// inForce says whether a fault may have been in force at some time between two
// events.
func inForce(fault histories.Op, from, to int) bool {
	return fault.Invoke.Index < to && (!healed(fault) || fault.Complete.Index > from)
}

// force is the span in which a fault may be in force.
func force(fault histories.Op) span {
	s := span{at(fault.Invoke.Index), never}
	if healed(fault) {
		s.to = at(fault.Complete.Index)
	}
	return s
}

// A cover answers whether any of many spans meets another. They are in order of starts, and each
// ends where the last of those up to it does.
type cover []span

func newCover(spans []span) cover {
	c := slices.SortedFunc(slices.Values(spans), func(a, b span) int { return cmp.Compare(a.from, b.from) })
	for i := 1; i < len(c); i++ {
		c[i].to = max(c[i].to, c[i-1].to)
	}
	return c
}

// meets says whether any of the spans has some time in common with s.
func (c cover) meets(s span) bool {
	_, ok := c.latest(s)
	return ok
}

// latest is where the last of the spans ends that meet s, if any does.
func (c cover) latest(s span) (rank, bool) {
	begun, _ := slices.BinarySearchFunc(c, s.to, func(f span, to rank) int { return cmp.Compare(f.from, to) })
	if begun == 0 || c[begun-1].to <= s.from {
		return 0, false
	}
	return c[begun-1].to, true
}

// faults covers the faults of a history but those of some kinds.
func (r *record) faults(but []histories.F) cover {
	var spans []span
	for _, f := range r.Faults {
		if !slices.Contains(but, f.Invoke.F) {
			spans = append(spans, force(f))
		}
	}
	return newCover(spans)
}

// between is the span from one event to another.
func between(from, to int) span { return span{at(from), at(to)} }
