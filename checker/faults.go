package checker

import (
	"cmp"
	"slices"
	"time"

	"github.com/lockbench/lockbench/histories"
)

// healed reports whether a fault is known to be over. One whose end was not recorded,
// or recorded as of unknown outcome, may be in force for ever.
func healed(fault *histories.Op) bool {
	return fault.Done && fault.Complete.Type != histories.Info
}

// inForce reports whether a fault may have been in force at some time between two
// events.
func inForce(fault *histories.Op, from, to int) bool {
	return fault.Invoke.Index < to && (!healed(fault) || fault.Complete.Index > from)
}

// force is the span in which a fault may be in force.
func force(fault *histories.Op) span {
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

// meets reports whether any of the spans has some time in common with s.
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

// ills are the faults of a history as the judges ask about them.
type ills struct {
	harmless []histories.F       // faults of clients alone
	instants []histories.Instant // starts and ends, in order
	open     int                 // faults that have not ended
	unhealed bool                // one ended, and nobody knows whether it is over
	healed   histories.Instant   // when the last one was over

	all, servers cover
	known        bool // they are those of now
	calm         rank
	sick         *histories.Op
}

// fault takes the next event of the nemesis.
func (r *record) fault(e *histories.Event) {
	r.ills.instants, r.ills.known = append(r.ills.instants, instant(e)), false
	switch {
	case e.Type == histories.Invoke:
		r.ills.open++
		r.hit = r.hit || e.Time < r.possibly
	case !e.Single():
		r.ills.open = max(r.ills.open-1, 0) // lines may have been left out
		r.ills.unhealed, r.ills.healed = r.ills.unhealed || e.Type == histories.Info, instant(e)
		r.pace.healed(instant(e))
	}
}

// look brings what is known of faults up to date.
func (r *record) look() {
	if r.ills.known {
		return
	}
	var all, servers []span
	for _, f := range r.Faults {
		all = append(all, force(f))
		if !slices.Contains(r.ills.harmless, f.Invoke.F) {
			servers = append(servers, force(f))
		}
	}
	r.ills.all, r.ills.servers, r.ills.known = newCover(all), newCover(servers), true
	r.ills.calm, r.ills.sick = lastHealed(r.Faults)
}

// faults covers the faults of a history.
func (r *record) faults() cover {
	r.look()
	return r.ills.all
}

// serverFaults covers those that may make a server forget or split a hold.
func (r *record) serverFaults() cover {
	r.look()
	return r.ills.servers
}

// calm is the rank at which the last fault ended, 0 if there was none, or else never, and a fault
// that was not healed.
func (r *record) calm() (rank, *histories.Op) {
	r.look()
	return r.ills.calm, r.ills.sick
}

// lastHealed returns the rank at which the last fault ended, 0 if there was none,
// or else a fault that was never healed.
func lastHealed(faults []*histories.Op) (rank, *histories.Op) {
	var last rank
	for i := range faults {
		if !healed(faults[i]) {
			return never, faults[i]
		}
		last = max(last, at(faults[i].Complete.Index))
	}
	return last, nil
}

// lingering are the faults that were not over at a time, with a lease and the slack for what they leave behind.
func (r *record) lingering(at time.Duration) []*histories.Op {
	left := plus(r.longest, r.opt.slack())
	var all []*histories.Op
	for _, f := range r.Faults {
		if !healed(f) || plus(f.Complete.Time, left) >= at {
			all = append(all, f)
		}
	}
	return all
}

// between is the span from one event to another.
func between(from, to int) span { return span{at(from), at(to)} }
