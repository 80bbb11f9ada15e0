package checker

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/lockbench/lockbench/histories"
)

// A section is one stretch in which an attempt believed that it held its key:
// what is left of a history when only mutual exclusion matters.
//
// The reduction keeps every violation and adds none:
//
//   - A refused acquire took nothing, so it is dropped with its releases.
//   - An acquire of unknown outcome may never have happened, so it is dropped
//     with its releases: nobody believed in it. If an extend of it was accepted it did
//     happen, and is believed in from then on. If one of its releases answered OK before that it did
//     happen, too: it surfaced. It then returned when that release did.
//   - A belief that was over when its acquire returned is none, but somebody was granted
//     the lock: it surfaced between its end and that return.
//   - A belief ends when its first release is invoked, whatever the release
//     answers, so later releases are dropped. The end may take effect late, if
//     the release is of unknown outcome, refused, or no call at all (lost,
//     abandon, crash, a deadline), but not later than the next grant: the next
//     holder can have the mutex only when it is free.
type section struct {
	hold     *histories.Hold
	call     rank // the acquire, or the extend that revived the belief, was invoked
	granted  rank // it returned: the belief begins
	end      rank // the belief ends; never if nothing ends it
	bound    rank // the mutex is certainly free of this section by then
	old      bool // it was granted before the stretch, or after it
	surfaced bool // it was held at some instant of a call, from end to bound, and nobody believed in it

	grant    int           // event that proves the grant
	ended    histories.F   // Release, Lost, Abandon or Crash; deadline; empty if nothing ended it
	until    time.Duration // the deadline told, 0 if none
	extended bool          // it was granted by an extend
	owed     bool          // no belief but a lease that the server owes; until is its end
}

// late reports whether s surfaced because its grant was known only when it was over.
func (s *section) late() bool { return s.surfaced && s.grant == grantOf(s.hold).Event }

// deadline is the end of a section whose lease ran out. It is no event.
const deadline histories.F = "deadline"

// strictSections are the sections of the strict reading: one for each attempt
// that was believed in or surfaced.
func strictSections(s *stretch) []section {
	return sections(s.holds, func(all []section, h *histories.Hold) []section {
		proof := grantOf(h)
		return append(all, section{
			hold: h, call: at(h.Invoked.Event), granted: at(proof.Event), end: endOf(h),
			grant: proof.Event, ended: h.End,
		})
	}, unended)
}

// leaseSections are the sections of the reading as believed: a belief also ends
// at the deadline told to its holder. An extend that answers in time moves the
// deadline. One that answers after it begins a section of its own, because in
// between the holder did not believe. A deadline that had passed when it was
// told gives no belief at all, but the key was granted until then.
func leaseSections(of *stretch) []section {
	told := func(d time.Duration) rank {
		if d == 0 {
			return never
		}
		return of.gap(d)
	}
	return sections(of.holds, func(all []section, h *histories.Hold) []section {
		stop := endOf(h)
		proof, until, extends := h.Returned, h.Deadline, h.Extends
		if h.Outcome != histories.OK {
			proof, until, extends = extends[0].Returned, extends[0].Deadline, extends[1:]
		}
		s := section{
			hold: h, call: at(h.Invoked.Event), granted: at(proof.Event), end: told(until),
			grant: proof.Event, ended: deadline, until: until,
		}
		for _, x := range extends {
			returned := at(x.Returned.Event)
			if returned > stop {
				break
			}
			if returned < s.end {
				s.end, s.until = max(told(x.Deadline), returned+1), x.Deadline
				continue
			}
			all = append(all, s)
			s = section{
				hold: h, call: at(x.Invoked.Event), granted: returned, end: told(x.Deadline),
				grant: x.Returned.Event, ended: deadline, until: x.Deadline, extended: true,
			}
		}
		if s.end >= stop {
			s.end, s.ended = stop, h.End
		}
		return append(all, s)
	}, unended)
}

// believable drops those of all[begun:] that are over when they begin. Of a first one it keeps that
// it was granted: whenever that was, it had the key at some instant from its end to its return.
func believable(all []section, begun int) []section {
	for i := begun; i < len(all); i++ {
		if s := &all[i]; s.end <= s.granted && !s.extended {
			s.surfaced, s.end, s.bound = true, max(s.end, s.call), s.granted
		}
	}
	kept := slices.DeleteFunc(all[begun:], func(s section) bool { return s.end <= s.granted && !s.surfaced })
	return all[:begun+len(kept)]
}

// grantOf is when it was certain that h had been granted: the return of its acquire or, if that has
// no known outcome, of the first extend that was accepted. None of both is the zero Instant.
func grantOf(h *histories.Hold) histories.Instant {
	switch {
	case h.Outcome == histories.OK:
		return h.Returned
	case len(h.Extends) > 0:
		return h.Extends[0].Returned
	}
	return histories.Instant{}
}

// sections applies the reduction. read appends the sections of a hold whose grant is certain, and
// tells when the lease of another that surfaced can have ended first.
func sections(holds []*histories.Hold, read func([]section, *histories.Hold) []section, ended func(*histories.Hold) rank) []section {
	all := make([]section, 0, len(holds))
	for _, h := range holds {
		proof := grantOf(h)
		surfaced, back := surfacedSection(h)
		switch known := proof != (histories.Instant{}); {
		case known && (!back || h.Outcome == histories.OK || proof.Event < surfaced.grant):
			all = believable(read(all, h), len(all))
		case back:
			surfaced.end = max(surfaced.call, min(surfaced.end, ended(h)))
			all = append(all, surfaced)
		}
	}
	bound(all)
	return all
}

// unended is the end of a belief that no lease ends.
func unended(*histories.Hold) rank { return never }

// surfacedSection is the section of an acquire of unknown outcome, if one of its
// releases answered OK.
func surfacedSection(h *histories.Hold) (section, bool) {
	r, ok := accepted(h)
	if !ok {
		return section{}, false
	}
	returned := at(r.Returned.Event)
	return section{
		hold: h, call: at(h.Invoked.Event), granted: returned, end: at(r.Invoked.Event), bound: returned,
		surfaced: true, grant: r.Returned.Event, ended: histories.Release,
	}, true
}

// bound bounds the ends of the sections of one key by the next grant, and by the
// return of an accepted release. An end could as well take effect as soon as it is
// called, which is what the interval engine relies on; leaving it its time lets the
// porcupine engine check that.
func bound(sections []section) {
	grants := make([]rank, 0, len(sections))
	for i := range sections {
		if s := &sections[i]; !s.surfaced {
			grants = append(grants, s.granted)
		}
	}
	slices.Sort(grants)
	for i := range sections {
		s := &sections[i]
		if s.surfaced || s.end == never {
			continue
		}
		s.bound = never
		if next, _ := slices.BinarySearch(grants, s.end); next < len(grants) {
			s.bound = grants[next]
		}
		if s.ended == histories.Release {
			if r := s.hold.Releases[0]; r.Outcome == histories.OK {
				s.bound = min(s.bound, at(r.Returned.Event))
			}
		}
	}
}

// endOf is where the belief in h ends by an event, or never.
func endOf(h *histories.Hold) rank {
	if h.Open() {
		return never
	}
	return at(h.Ended.Event)
}

// accepted is the first release of h that answered OK.
func accepted(h *histories.Hold) (histories.Answer, bool) {
	i := slices.IndexFunc(h.Releases, func(r histories.Answer) bool { return r.Outcome == histories.OK })
	if i < 0 {
		return histories.Answer{}, false
	}
	return h.Releases[i], true
}

// givesBack reports whether another release of h than that of an event may have had its effect before an
// event.
func givesBack(h *histories.Hold, but, before int) bool {
	return slices.ContainsFunc(h.Releases, func(r histories.Answer) bool {
		return r.Outcome != histories.Fail && r.Invoked.Event != but && r.Invoked.Event < before
	})
}

// sortedKeys are the keys of m in order, so that verdicts and stories do not
// depend on the order of a map.
func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K {
	return slices.Sorted(maps.Keys(m))
}
