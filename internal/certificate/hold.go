package certificate

import (
	"slices"

	"github.com/lockbench/lockbench/histories"
)

// A hold is an attempt that was granted, or may have been.
type hold struct {
	*op
	end      moment // of the belief; event pending: none
	by       kind
	extends  []*op // that were not refused
	releases []*op
	lease    []step // own
	common   []step // with the extends of what its client entered besides; nil: the same
	spent    int    // event from which on a release of something else may have given it back, or pending

	one   [1]*op  // room for the first release
	first [1]step // and for the lease of what is not extended
}

// pair finds the holds of a key.
func (k *table) pair() {
	var room []hold
	orphans := make(map[uint64]bool) // attempts that are no holds, and make calls
	for _, o := range k.calls {
		switch o.F {
		case acquire:
			if o.outcome == histories.Fail {
				continue
			}
			if len(room) == 0 {
				room = make([]hold, slab)
			}
			h := &room[0]
			room = room[1:]
			h.op, h.end.event, h.spent, h.releases = o, pending, pending, h.one[:0]
			o.hold = int32(len(k.holds))
			k.holds, k.of[o.Attempt] = append(k.holds, h), h
		case extend, release:
			h := k.of[o.Attempt]
			switch {
			case h == nil:
				orphans[o.Attempt] = true
			case o.F == release:
				h.releases = append(h.releases, o)
				h.finish(o.from, release)
			case o.outcome != histories.Fail:
				h.extends = append(h.extends, o)
			}
		}
	}
	for _, o := range k.answers {
		if o.F == acquire && o.granted() {
			k.granted = append(k.granted, k.holds[o.hold])
		}
	}
	for _, o := range k.calls {
		if len(orphans) > 0 && o.F == acquire && o.outcome == histories.Fail && orphans[o.Attempt] {
			k.refused[o.Attempt] = o
		}
	}
	for _, h := range k.holds {
		crashes := k.crashes[h.Worker]
		i, _ := slices.BinarySearchFunc(crashes, h.from.event, func(c moment, event int) int { return c.event - event })
		if i < len(crashes) {
			h.finish(crashes[i], crash)
		}
	}
}

func (h *hold) finish(m moment, by kind) {
	if m.event > h.from.event && m.event < h.end.event {
		h.end, h.by = m, by
	}
}

// granted reports whether a call was accepted.
func (o *op) granted() bool { return o.outcome == histories.OK }

// refused reports whether it was told that the key is taken, or not its own. Other failures say nothing of a
// key.
func (o *op) refused() bool  { return o.taken || o.notHeld }
func (h *hold) isOpen() bool { return h.by == unknown }

func (h *hold) shares(o *hold) bool { return h.Shares(&o.Call) }

// A party are those who may share a key: readers, the re-entries of one worker, or one attempt.
type party struct {
	mode   sharing
	worker int    // of re-entries
	n      uint64 // the attempt of who shares with nobody; see stays
}

func (h *hold) party() party {
	switch h.Mode {
	case withReaders:
		return party{mode: h.Mode}
	case withItself:
		return party{mode: h.Mode, worker: h.Worker}
	}
	return party{n: h.Attempt}
}

// accepted is the first release that was accepted, or nil.
func (h *hold) accepted() *op {
	for _, r := range h.releases {
		if r.outcome == histories.OK {
			return r
		}
	}
	return nil
}

// givesBack reports whether another release than that of an event may have had its effect before an event.
func (h *hold) givesBack(but, before int) bool {
	return slices.ContainsFunc(h.releases, func(r *op) bool {
		return r.outcome != histories.Fail && r.from.event != but && r.from.event < before
	})
}

// proof is when it was certain that h had been granted.
func (h *hold) proof() moment {
	if h.granted() {
		return h.to
	}
	for _, x := range h.extends {
		if x.outcome == histories.OK {
			return x.to
		}
	}
	return moment{event: pending}
}
