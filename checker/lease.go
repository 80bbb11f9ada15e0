package checker

import (
	"cmp"
	"iter"
	"math"
	"slices"
	"time"

	"github.com/lockbench/lockbench/histories"
)

// forever is the end of what has none.
const forever time.Duration = math.MaxInt64

// plus is the sum of two times, forever at most.
func plus(a, b time.Duration) time.Duration {
	if b > 0 && a > forever-b {
		return forever
	}
	return a + b
}

// sure is the end of a lease that began at from or later, on a server whose clock runs fast by
// no more than the drift that Redlock allows for: 1 % of the TTL and 2 ms. A TTL of 0 or less is
// none.
func sure(from, ttl time.Duration) time.Duration {
	if ttl <= 0 {
		return forever
	}
	return plus(from, ttl-ttl/100-2*time.Millisecond)
}

// shorter is the shorter of two TTLs, of which 0 or less is none.
func shorter(a, b time.Duration) time.Duration {
	if a <= 0 || 0 < b && b < a {
		return b
	}
	return a
}

// A grant is an acquire or an extend that gave, or may have given, a key a time to live.
type grant struct {
	invoked  histories.Instant
	returned int           // event, or unknown
	ttl      time.Duration // 0 or less: none
	deadline time.Duration // that it told, 0: none
}

// unknown is the return of a grant that may have had its effect, or may have it yet.
const unknown = math.MaxInt

// grants are those of one attempt, in order of invocations.
func grants(h *histories.Hold) []grant {
	all := make([]grant, 0, 1+len(h.Extends)+len(h.Unknown))
	first := grant{invoked: h.Invoked, returned: unknown, ttl: h.TTL}
	if h.Outcome == histories.OK {
		first.returned, first.deadline = h.Returned.Event, h.Deadline
	}
	all = append(all, first)
	for _, x := range h.Extends {
		all = append(all, grant{x.Invoked, x.Returned.Event, asked(h, x), x.Deadline})
	}
	for _, x := range h.Unknown {
		all = append(all, grant{invoked: x.Invoked, returned: unknown, ttl: asked(h, x)})
	}
	slices.SortFunc(all, byInvocation)
	return all
}

// asked is the TTL that an extend of h asked for. One that is not recorded is the acquire's.
func asked(h *histories.Hold, x histories.Extension) time.Duration {
	if x.TTL == 0 {
		return h.TTL
	}
	return x.TTL
}

// A lease is what a history tells of the time to live of a key, as long as one party has it. It
// changes when a grant is invoked, which may shorten it from then on, and when one returns, which
// has certainly lengthened it by then.
type lease struct{ steps []leaseStep } // in order of events

// A leaseStep is what is certain of a lease from an event on.
type leaseStep struct {
	event int
	until time.Duration // the key is certainly there until then, unless it was given back; 0: it need not be there at all
	told  time.Duration // the earliest deadline that was told of what the key may have got last
	proof *grant        // that certainly had its effect, with this event as its return; nil: it was invoked
}

// newLease returns the lease that grants, in order of invocations, give to a key.
//
// What a key got last was given by a grant that had been invoked, and by none after which another
// certainly had its effect. If that was invoked before the latest of those that returned, it had its
// effect after that one's invocation.
func newLease(grants []grant) lease {
	type point struct {
		event int
		grant *grant
	}
	var points []point
	for i := range grants {
		g := &grants[i]
		points = append(points, point{g.invoked.Event, g})
		if g.returned != unknown {
			points = append(points, point{g.returned, g})
		}
	}
	slices.SortFunc(points, func(a, b point) int { return a.event - b.event })

	var l lease
	var latest *grant       // invoked last of those that returned
	var open []*grant       // others that may have been the last; invoked after latest, or not returned before
	var loose time.Duration // the shortest TTL of those of unknown outcome, invoked before latest
	for _, p := range points {
		step := leaseStep{event: p.event}
		if p.event == p.grant.invoked.Event {
			open = append(open, p.grant)
		} else {
			step.proof = p.grant
			if latest == nil || p.grant.invoked.Event > latest.invoked.Event {
				latest = p.grant
				open = slices.DeleteFunc(open, func(g *grant) bool {
					if g.returned == unknown && g.invoked.Event < latest.invoked.Event {
						loose = shorter(loose, g.ttl)
						return true
					}
					return g.returned < latest.invoked.Event
				})
			}
		}
		if latest != nil {
			step.until, step.told = sure(latest.invoked.Time, loose), forever
			for _, g := range open {
				step.until = min(step.until, sure(max(g.invoked.Time, latest.invoked.Time), g.ttl))
				if g.deadline > 0 && g.returned <= p.event {
					step.told = min(step.told, g.deadline)
				}
			}
		}
		l.steps = append(l.steps, step)
	}
	return l
}

// at is what is certain at an event.
func (l lease) at(event int) leaseStep {
	i, found := slices.BinarySearchFunc(l.steps, event, func(s leaseStep, event int) int { return cmp.Compare(s.event, event) })
	switch {
	case found:
		return l.steps[i]
	case i == 0:
		return leaseStep{}
	}
	return l.steps[i-1]
}

// leases are those of the attempts of a history.
type leases struct {
	own    map[uint64]lease // of attempts with extends, by attempt
	common map[uint64]lease // the same with the extends of what its client entered besides
	gaps   map[uint64]int   // by attempt, of those that were asked about: see gap
	spent  map[uint64]int   // by attempt: the event from which on a release of something else that its client had entered may have given it back
}

func newLeases(holds []*histories.Hold) leases {
	l := leases{own: make(map[uint64]lease), common: make(map[uint64]lease), gaps: make(map[uint64]int), spent: make(map[uint64]int)}
	entered := make(map[reenterer][]*histories.Hold)
	for _, h := range holds {
		if len(h.Extends)+len(h.Unknown) > 0 {
			l.own[h.Attempt] = newLease(grants(h))
		}
		if h.Mode == histories.Reentrant {
			by := reenterer{h.Key, h.Worker}
			entered[by] = append(entered[by], h)
		}
	}
	for _, holds := range entered {
		l.share(holds)
		l.spend(holds)
	}
	return l
}

func byInvocation(a, b grant) int { return a.invoked.Event - b.invoked.Event }

// sureUntil is the time until which the lease of h was certainly in force, as far as the history
// tells at an event, and never beyond the deadline that h was told. Whether h was given back is not
// asked here.
func (l leases) sureUntil(h *histories.Hold, by histories.Instant) time.Duration {
	end := l.owed(h, by.Event)
	if own, extended := l.own[h.Attempt]; extended {
		return min(end, own.at(by.Event).told)
	}
	if h.Deadline > 0 {
		end = min(end, h.Deadline)
	}
	return end
}

// alone is until when the lease of h was certainly in force if nothing else of its client moved it.
func (l leases) alone(h *histories.Hold, event int) time.Duration {
	if own, extended := l.own[h.Attempt]; extended {
		return own.at(event).until
	}
	return sure(h.Invoked.Time, h.TTL)
}

// owed is sureUntil as the server owes it: whatever deadline was told.
func (l leases) owed(h *histories.Hold, event int) time.Duration {
	end := l.alone(h, event)
	if common, shared := l.common[h.Attempt]; shared {
		end = min(end, common.at(event).until)
	}
	return end
}

// latest is the latest time at which the lease of h can certainly have run.
func (l leases) latest(h *histories.Hold) time.Duration {
	end := sure(h.Invoked.Time, h.TTL)
	for _, s := range l.own[h.Attempt].steps {
		end = max(end, s.until)
	}
	return end
}

// earliestEnd is the earliest time at which the lease of h can have ended, whatever became of its
// acquire and of its extends.
func earliestEnd(h *histories.Hold) time.Duration {
	var ttl time.Duration
	for _, g := range grants(h) {
		ttl = shorter(ttl, g.ttl)
	}
	return sure(h.Invoked.Time, ttl)
}

// changes are the event that proves that h was granted and those after it, before stop, at which what is
// owed to h may have changed, with the grant of h that each of them proves, if it does.
func (l leases) changes(h *histories.Hold, stop rank) iter.Seq2[int, *grant] {
	return func(yield func(int, *grant) bool) {
		steps := l.own[h.Attempt].steps
		if steps == nil && h.Outcome == histories.OK {
			steps = []leaseStep{{event: h.Returned.Event, until: sure(h.Invoked.Time, h.TTL)}}
		}
		for len(steps) > 0 && steps[0].until == 0 { // nobody knows yet that it was granted
			steps = steps[1:]
		}
		if common := l.common[h.Attempt].steps; len(common) > 0 && len(steps) > 0 {
			first := steps[0].event
			steps = slices.Clone(steps)
			for _, s := range common {
				if s.event > first && !slices.ContainsFunc(steps, func(o leaseStep) bool { return o.event == s.event }) {
					s.proof = nil
					steps = append(steps, s)
				}
			}
			slices.SortFunc(steps, func(a, b leaseStep) int { return a.event - b.event })
		}
		for i, s := range steps {
			if i > 0 && at(s.event) > stop || !yield(s.event, s.proof) {
				return
			}
		}
	}
}

// mayRunUntil is the time until which some server may hold h, unless it was given back; forever if
// there is no telling. Clocks of servers may be wrong by the slack.
func mayRunUntil(h *histories.Hold, slack time.Duration) time.Duration {
	if h.TTL <= 0 || h.Open() || h.Returned == (histories.Instant{}) && h.End != histories.Crash {
		return forever
	}
	latest, ttl := max(h.Returned.Time, h.Ended.Time), h.TTL
	for _, x := range h.Extends {
		latest, ttl = max(latest, x.Returned.Time), max(ttl, x.TTL)
	}
	for _, x := range h.Unknown {
		latest, ttl = max(latest, x.Invoked.Time, x.Returned.Time), max(ttl, x.TTL)
	}
	for _, r := range h.Releases {
		if r.Returned == (histories.Instant{}) {
			return forever
		}
		latest = max(latest, r.Returned.Time)
	}
	return plus(plus(latest, ttl), slack)
}
