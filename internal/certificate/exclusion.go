package certificate

import (
	"cmp"
	"slices"
	"time"

	"github.com/lockbench/lockbench/histories"
)

// A section is a span in which an attempt certainly had its key; or, if it is a glimpse, one at some
// instant of which it had.
type section struct {
	span
	hold    *hold
	grant   int           // the event that proves it
	until   time.Duration // at which it ended, 0: by an event
	call    int           // of a glimpse: the invocation of the call in which it lies
	glimpse bool
	late    bool // it began by an extend, when another was over
}

// endBy ends a section at a time, but not before it is known that it has passed.
func (s *section) endBy(end, known rank, until time.Duration) {
	if s.to, s.until = end, until; end < known {
		s.to, s.until = known, 0
	}
}

// believed adds the sections of mutual exclusion: from the grant on until the attempt ends.
func believed(_ *table, h *hold, all []section) []section {
	return append(all, section{span: between(h.proof().event, h.end.event), hold: h, grant: h.proof().event})
}

// trusted adds the sections of lease exclusion: they also end at the deadline that was told last. An extend
// that is accepted later begins another.
func trusted(k *table, h *hold, all []section) []section {
	told := func(event int, deadline time.Duration) section {
		s := section{span: between(event, h.end.event), hold: h, grant: event}
		if deadline > 0 && (s.to == never || deadline <= h.end.time) {
			if gap := k.gap(deadline); gap < s.to {
				s.to, s.until = gap, deadline
			}
		}
		return s
	}
	if h.granted() {
		all = append(all, told(h.to.event, h.deadline))
	}
	for _, x := range inOrderOfAnswers(h.extends) {
		last := len(all) - 1
		switch {
		case x.outcome != histories.OK:
		case last < 0:
			all = append(all, told(x.to.event, x.deadline))
		case x.to.event >= h.end.event:
		case at(x.to.event) < all[last].to:
			next := told(x.to.event, x.deadline)
			all[last].endBy(next.to, next.from+1, next.until)
		default:
			next := told(x.to.event, x.deadline)
			next.late = true
			all = append(all, next)
		}
	}
	return all
}

func inOrderOfAnswers(calls []*op) []*op {
	return slices.SortedFunc(slices.Values(calls), func(a, b *op) int { return cmp.Compare(a.to.event, b.to.event) })
}

// stop is the event from which on the lock may have given the key of h away with good reason.
func (h *hold) stop() int {
	switch {
	case h.by == release || h.by == lost:
		return h.end.event
	case len(h.releases) > 0:
		return h.releases[0].from.event
	}
	return pending
}

// served adds the sections of lease honoured: while the lease certainly runs, and its holder has not given
// it up.
func served(k *table, h *hold, all []section) []section {
	stop := min(h.stop(), h.spent)
	changes := slices.DeleteFunc(slices.Clone(h.lease), func(s step) bool { return s.until == 0 })
	if len(changes) > 0 {
		for _, s := range h.common {
			if s.event > changes[0].event {
				changes = append(changes, step{event: s.event})
			}
		}
		slices.SortStableFunc(changes, func(a, b step) int { return a.event - b.event }) // its own first
		changes = slices.CompactFunc(changes, func(a, b step) bool { return a.event == b.event })
	}
	for i, s := range changes {
		now, until := at(s.event), h.owed(s.event)
		if i > 0 && s.event > stop {
			break
		}
		end := k.gap(until)
		if last := len(all) - 1; last >= 0 && all[last].to > now {
			all[last].endBy(end, now-1, until)
			continue
		}
		if len(all) == 0 || s.proof != nil {
			all = append(all, section{span: span{now, end}, hold: h, grant: s.event, until: until, late: len(all) > 0})
		}
	}
	for i := range all {
		if all[i].to >= at(stop) {
			all[i].to, all[i].until = at(stop), 0
		}
	}
	return all
}

// A reader adds the sections of a hold to none.
type reader func(k *table, h *hold, all []section) []section

// exclusive looks for sections of one key that meet, though their attempts may not share it.
func exclusive(read reader) search {
	return eachKey(func(k *table, yield func(finding)) {
		lasting, glimpses := k.sections(read, false)
		k.sweep(lasting, glimpses, yield)
	})
}

// honoured looks for leases of one key that meet or, if no two do, cannot all have come one after the other.
func honoured(k *table, yield func(finding)) {
	meet := false
	lasting, glimpses := k.sections(served, true)
	k.sweep(lasting, glimpses, func(f finding) {
		meet = true
		yield(f)
	})
	if !meet {
		chained(k, yield)
	}
}

// sections are those of a key: those that last, and glimpses.
func (k *table) sections(read reader, leases bool) (lasting, glimpses []section) {
	lasting = make([]section, 0, len(k.holds))
	var each []section
	others := slices.DeleteFunc(slices.Clone(k.holds), func(h *hold) bool { return h.granted() })
	for _, h := range slices.Concat(k.granted, others) { // hardly anything is left to sort
		call, back, proof := at(h.from.event), h.accepted(), h.proof().event
		switch {
		case proof != pending && (back == nil || h.granted() || proof < back.to.event):
			each = read(k, h, each[:0])
			for _, s := range each {
				switch {
				case s.to > s.from:
					lasting = append(lasting, s)
				case !s.late: // it was over when it was known, and had the key at some instant before
					s.span, s.call, s.glimpse = span{max(s.to, call), s.from}, h.from.event, true
					glimpses = append(glimpses, s)
				}
			}
		case back != nil:
			s := section{span: between(back.from.event, back.to.event), hold: h, grant: back.to.event, call: back.from.event, glimpse: true}
			if over := min(at(h.stop()), k.gap(h.shortest())); leases && over < s.from {
				s.from, s.call = max(call, over), h.from.event
			}
			glimpses = append(glimpses, s)
		}
	}
	slices.SortStableFunc(glimpses, func(a, b section) int { return a.hold.from.event - b.hold.from.event })
	return lasting, glimpses
}

// shortest is the earliest time at which the lease of h can have ended, whatever became of its acquire
// and its extends.
func (h *hold) shortest() time.Duration {
	var ttl time.Duration
	for _, g := range h.grants() {
		ttl = shorter(ttl, h.asked(g))
	}
	return sure(h.from.time, ttl)
}

func (k *table) sweep(lasting, glimpses []section, yield func(finding)) {
	slices.SortFunc(lasting, func(a, b section) int { return cmp.Compare(a.from, b.from) })
	var reach leaders[party, *section] // which of those so far end last
	var reaches []leaders[party, *section]
	for i := range lasting {
		s := &lasting[i]
		who := s.hold.party()
		if first := reach.but(who); first != nil && first.to > s.from {
			yield(k.overlap([]*section{first}, s))
		}
		if len(glimpses) > 0 {
			reaches = append(reaches, reach)
		}
		reach = reach.with(who, s, int64(s.to))
	}
	reaches = append(reaches, reach)
	for i := range glimpses {
		s := &glimpses[i]
		var cover []*section
		for end := s.from; end < s.to; {
			i, _ := slices.BinarySearchFunc(lasting, end, func(b section, r rank) int { return cmp.Compare(b.from, r) })
			next := reaches[i].but(s.hold.party())
			if next == nil || next.to <= end {
				cover = nil // here is a free instant
				break
			}
			cover, end = append(cover, next), next.to
		}
		if len(cover) > 0 {
			yield(k.overlap(cover, s))
		}
	}
}

// overlap is the finding that sections, one after the other, met with all of another.
func (k *table) overlap(held []*section, s *section) finding {
	var parts []part
	var attempts []uint64
	var bounds []Bound
	for i, h := range held {
		through := s.grant
		if i+1 < len(held) {
			through = held[i+1].grant
		}
		parts, attempts = append(parts, part{"held", h.grant}), append(attempts, h.hold.Attempt)
		bounds = append(bounds, less("grant of the holder", h.grant, "event through which it held", through))
		if h.until != 0 {
			bounds = append(bounds, less("time of that event", k.times[through], "end of the holder's lease", h.until))
		} else if h.to != never {
			bounds = append(bounds, less("event through which it held", through, "event that ended it", int(h.to/2)))
		}
	}
	if s.glimpse {
		parts = append(parts, part{"from", s.call}, part{"to", s.grant})
		bounds = append(bounds, less("grant of the first holder", held[0].grant, "event by which the rival cannot have been gone", int(s.from/2)))
	} else {
		parts = append(parts, part{"granted", s.grant})
	}
	return k.violation(parts, append(attempts, s.hold.Attempt), bounds...)
}
