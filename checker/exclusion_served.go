package checker

import (
	"github.com/lockbench/lockbench/histories"
)

// LeaseHonoured is what leaseHonoured judges.
const LeaseHonoured Property = "lease-honoured"

func leaseHonouredSpec() spec {
	return spec{
		property:   LeaseHonoured,
		definition: "nobody gets the lock before another's release or the end of the lease that this one asked for, whatever deadline the lock told",
		judge:      leaseHonoured,
		engine:     exclusionEngines,
		counts:     holding(),
	}
}

// leaseHonoured judges that a lease is honoured by the server: the key is given to nobody
// else before the lease that was asked for has ended. The lease of an attempt certainly
// runs from its acquire's return to its acquire's invocation plus the TTL, whatever
// deadline the library told its holder. The difference to lease exclusion is the library's
// arithmetic: leases that overlap as believed, but not here, come of a wrong deadline; if
// they overlap here, Redis or the algorithm lost the lock.
//
// A server's clock may run fast by the drift that Redlock allows for, so 1 % of the TTL and
// 2 ms are taken off. A lease ends early when its first release is invoked or the lock says
// that it is lost. That its holder walked away or crashed ends nothing: no server knows of
// it. An accepted extend moves the end, from its invocation on by its TTL; one that came
// after the end begins a lease of its own. One of unknown outcome may move it to an earlier
// time, and may do so late. Holds that may share the key do not count against each other.
//
// Grants that overlap in their calls are leases one after the other in some order; if there is not the time for
// all of them, that is a violation, too: see chained.
//
// It does not apply if nobody asked for a lease that ends: then who has not given the key back believes in it, and
// mutual exclusion tells. But it does if the key was granted that a dead client had, which nobody gave back.
func leaseHonoured(rec *record, opt Options) judge {
	return &exclusion{record: rec, leased: true, read: servedSections, interval: sweep, porcupine: linearizable, while: "the lease of another attempt certainly ran", opt: opt}
}

// expired is the end of a section whose lease ran out on the server. It is no event.
const expired histories.F = "lease"

// overdraft ends a section by a release of something else that its client had entered.
const overdraft histories.F = "overdraft"

// servedSections are the leases that the server owes.
func servedSections(s *stretch) []section {
	all := s.leases
	return sections(s.holds, func(to []section, h *histories.Hold) []section {
		begun := len(to)
		stop, by := givenUp(h)
		if back := all.overdrawn(h); back != unknown && at(back) < stop {
			stop, by = at(back), overdraft
		}
		for event, extend := range all.changes(h, stop) {
			now := at(event)
			until := all.owed(h, event)
			end := s.gap(until)
			if open := len(to) > begun && to[len(to)-1].end > now; open {
				last := &to[len(to)-1]
				if last.end, last.until = end, until; end < now { // it may be over since this call was invoked, and not before
					last.end, last.until = now-1, s.of(event)
				}
				continue
			}
			next := section{hold: h, granted: now, end: end, grant: event, ended: expired, until: until, owed: true}
			switch {
			case len(to) == begun:
				next.call = at(h.Invoked.Event)
			case extend == nil:
				continue // what is over stays so
			default:
				next.call, next.extended = at(extend.invoked.Event), true
			}
			to = append(to, next)
		}
		if len(to) > begun {
			if last := &to[len(to)-1]; last.end >= stop {
				last.end, last.ended = stop, by
			}
		}
		return to
	}, func(h *histories.Hold) rank {
		stop, _ := givenUp(h)
		return min(stop, s.gap(earliestEnd(h)))
	})
}

// givenUp is where the lock may have given the key of h away with good reason before its
// lease ended, and by what.
func givenUp(h *histories.Hold) (rank, histories.F) {
	switch {
	case h.End == histories.Release || h.End == histories.Lost:
		return at(h.Ended.Event), h.End
	case len(h.Releases) > 0:
		return at(h.Releases[0].Invoked.Event), histories.Release
	}
	return never, ""
}
