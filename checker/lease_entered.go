package checker

import (
	"slices"
	"time"

	"github.com/lockbench/lockbench/histories"
)

// A reenterer is a client that re-enters a key. A lock may keep one time to live for all that it
// entered, or one for each.
type reenterer struct {
	key    string
	worker int
}

// share notes the leases of the holds of one client, in order of invocations, as they are if all of
// them have one time to live. To enter again shortens nothing.
func (l leases) share(holds []*histories.Hold) {
	var extends []grant
	for _, h := range holds {
		extends = append(extends, grants(h)[1:]...)
	}
	slices.SortFunc(extends, byInvocation)
	next := 0
	var flying []grant // invoked before a hold, and not returned
	var loose []grant  // of those of unknown outcome the one that asked for least
	for _, h := range holds {
		for ; next < len(extends) && extends[next].invoked.Event < h.Invoked.Event; next++ {
			switch x := extends[next]; {
			case x.returned != unknown:
				flying = append(flying, x)
			case len(loose) == 0 || shorter(x.ttl, loose[0].ttl) == x.ttl:
				loose = []grant{x}
			}
		}
		flying = slices.DeleteFunc(flying, func(x grant) bool { return x.returned < h.Invoked.Event })
		own := grants(h)
		all := slices.Concat(loose, flying, own, others(h, own, extends[next:]))
		if len(all) > len(own) {
			slices.SortFunc(all, byInvocation)
			l.common[h.Attempt] = newLease(all)
		}
	}
}

// shared reports whether the lease of h may have been moved by an extend of something else that its
// client had entered.
func (l leases) shared(h *histories.Hold) bool {
	_, shared := l.common[h.Attempt]
	return shared
}

// others are those of some extends, in order of invocations, that are not of h, and were invoked
// while it may have been in force, or asked for.
func others(h *histories.Hold, own, extends []grant) []grant {
	var all []grant
	until, ended, mine := time.Duration(0), h.Ended.Event, make(map[int]bool)
	for _, r := range h.Releases {
		if ended = max(ended, r.Returned.Event); r.Outcome == histories.Info || r.Returned == (histories.Instant{}) { // it may come yet
			ended = unknown
		}
	}
	for _, g := range own {
		until, mine[g.invoked.Event] = max(until, sure(g.invoked.Time, g.ttl)), true
	}
	for _, x := range extends {
		if x.invoked.Time > until || !h.Open() && x.invoked.Event > ended {
			break
		}
		if !mine[x.invoked.Event] {
			all = append(all, x)
		}
	}
	return all
}

// A payback is a release that was not refused.
type payback struct {
	hold     *histories.Hold
	invoked  int  // event
	returned int  // event, or unknown
	sure     bool // it is the first of its hold, and came when that had certainly been granted
}

// spend notes which of the holds of one client, in order of invocations, may have been given back by
// a release of another: a lock that counts what a client entered cannot tell them apart. It gave
// back that other's own if both were in force at once.
func (l leases) spend(holds []*histories.Hold) {
	var all []payback
	for _, h := range holds {
		first := true
		for _, r := range h.Releases {
			if r.Outcome == histories.Fail {
				continue
			}
			p := payback{h, r.Invoked.Event, unknown, first && h.Outcome == histories.OK && h.Returned.Event < r.Invoked.Event}
			if r.Outcome == histories.OK {
				p.returned = r.Returned.Event
			}
			all, first = append(all, p), false
		}
	}
	slices.SortFunc(all, func(a, b payback) int { return a.invoked - b.invoked })
	next := 0
	var live []payback // that began before a hold, and may have come after its acquire
	for _, h := range holds {
		live = slices.DeleteFunc(live, func(p payback) bool { return p.returned < h.Invoked.Event })
		for ; next < len(all) && all[next].invoked < h.Invoked.Event; next++ {
			if all[next].returned > h.Invoked.Event {
				live = append(live, all[next])
			}
		}
		if slices.ContainsFunc(live, func(p payback) bool { return l.takes(p, h) }) {
			l.spent[h.Attempt] = h.Invoked.Event
			continue
		}
		for _, p := range all[next:] {
			if p.invoked > givenBackBy(h) {
				break
			}
			if l.takes(p, h) {
				l.spent[h.Attempt] = p.invoked
				break
			}
		}
	}
}

// givenBackBy is the event by which the calls were over that gave h back, or unknown.
func givenBackBy(h *histories.Hold) int {
	if stop, _ := givenUp(h); stop == never {
		return unknown
	}
	by := 0
	if h.End == histories.Lost {
		by = h.Ended.Event
	}
	for _, r := range h.Releases {
		if r.Returned == (histories.Instant{}) {
			return unknown
		}
		by = max(by, r.Returned.Event)
	}
	return by
}

// takes reports whether a release of something else may have given h back.
func (l leases) takes(p payback, h *histories.Hold) bool {
	if p.hold == h {
		return false
	}
	if h.Outcome != histories.OK {
		return true // it need not have been counted
	}
	first, last := p.hold, h
	if first.Returned.Event > last.Returned.Event {
		first, last = last, first
	}
	back := givesBack(p.hold, p.invoked, unknown) || l.overdrawn(p.hold) < p.returned
	return !p.sure || back || l.sureUntil(first, last.Returned) <= last.Returned.Time
}

// lapsed reports whether the lease of h need not have run without a gap: an extend was accepted when it
// may have been over. To a lock that counts what a client entered h is gone then.
func (l leases) lapsed(h *histories.Hold, by int) bool {
	gap, known := l.gaps[h.Attempt]
	if !known {
		gap = l.gap(h)
		l.gaps[h.Attempt] = gap
	}
	return gap < by
}

// gap is the event at which the first extend of h was invoked that was accepted when the lease may have
// been over, or unknown.
func (l leases) gap(h *histories.Hold) int {
	for _, x := range h.Extends {
		before := histories.Instant{Event: x.Invoked.Event - 1}
		if x.Invoked.Event > h.Returned.Event && l.sureUntil(h, before) <= x.Invoked.Time {
			return x.Invoked.Event
		}
	}
	return unknown
}

// overdrawn is the event from which on a release of something else that its client had entered may
// have given h back, or unknown if there is none.
func (l leases) overdrawn(h *histories.Hold) int {
	if event, ok := l.spent[h.Attempt]; ok {
		return event
	}
	return unknown
}
