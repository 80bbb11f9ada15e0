package certificate

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/lockbench/lockbench/histories"
)

// forever is the end of what has none.
const forever time.Duration = math.MaxInt64

func plus(a, b time.Duration) time.Duration {
	if b > 0 && a > forever-b {
		return forever
	}
	return a + b
}

// sure is the end of a lease that began at from or later, on a server whose clock runs fast by no more
// than 1 % of the TTL and 2 ms. A TTL of 0 or less is none.
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

// A step is what is certain of a lease from an event on.
type step struct {
	event int
	until time.Duration // 0: nothing
	told  time.Duration // the earliest deadline that was told of what the key may have got last
	proof *op           // that certainly had its effect and returned with this event, or nil
}

// grants are the calls that gave, or may have given, a hold a time to live.
func (h *hold) grants() []*op { return append([]*op{h.op}, h.extends...) }

// asked is the TTL that a grant of h asked for.
func (h *hold) asked(o *op) time.Duration {
	if o.TTL == 0 {
		return h.TTL
	}
	return o.TTL
}

// steps follows a lease through calls, each with its TTL. What a key got last was given by a call that
// had been invoked, and by none after which another certainly had its effect; if that was invoked
// before the latest of those that returned, it had its effect after that one's invocation.
func steps(calls []*op, ttl func(*op) time.Duration) (all []step) {
	type point struct {
		event int
		call  *op
	}
	var points []point
	for _, o := range calls {
		points = append(points, point{o.from.event, o})
		if o.outcome == histories.OK {
			points = append(points, point{o.to.event, o})
		}
	}
	slices.SortFunc(points, func(a, b point) int { return a.event - b.event })
	var latest *op          // invoked last of those that returned
	var open []*op          // that may have been the last
	var loose time.Duration // the shortest TTL of those of unknown outcome, invoked before latest
	for _, p := range points {
		s := step{event: p.event}
		if p.event == p.call.from.event {
			open = append(open, p.call)
		} else {
			s.proof = p.call
			if latest == nil || p.call.from.event > latest.from.event {
				latest = p.call
				open = slices.DeleteFunc(open, func(o *op) bool {
					if o.outcome != histories.OK && o.from.event < latest.from.event {
						loose = shorter(loose, ttl(o))
						return true
					}
					return o.outcome == histories.OK && o.to.event < latest.from.event
				})
			}
		}
		if latest != nil {
			s.until, s.told = sure(latest.from.time, loose), forever
			for _, o := range open {
				s.until = min(s.until, sure(max(o.from.time, latest.from.time), ttl(o)))
				if o.deadline > 0 && o.outcome == histories.OK && o.to.event <= p.event {
					s.told = min(s.told, o.deadline)
				}
			}
		}
		all = append(all, s)
	}
	return all
}

// leases follows the leases of all holds of a key.
func (k *table) leases() {
	entered := make(map[int][]*hold) // by worker
	for _, h := range k.holds {
		switch {
		case len(h.extends) > 0:
			h.lease = steps(h.grants(), h.asked)
		case h.granted():
			h.first[0] = step{event: h.to.event, until: sure(h.from.time, h.TTL), proof: h.op}
			h.lease = h.first[:]
		}
		if h.Mode == withItself {
			entered[h.Worker] = append(entered[h.Worker], h)
		}
	}
	for _, holds := range entered {
		share(holds)
		spend(holds)
	}
}

// share follows the leases of what one client entered as they are if all have one time to live.
func share(holds []*hold) {
	asked := make(map[*op]time.Duration)
	var extends []*op
	for _, h := range holds {
		asked[h.op] = h.TTL
		for _, x := range h.extends {
			asked[x] = h.asked(x)
			extends = append(extends, x)
		}
	}
	slices.SortFunc(extends, func(a, b *op) int { return a.from.event - b.from.event })
	var flying []*op // invoked before a hold, and may have their effect after its acquire
	var loose *op    // of those of unknown outcome the one that asked for least
	next := 0
	for _, h := range holds {
		for ; next < len(extends) && extends[next].from.event < h.from.event; next++ {
			switch x := extends[next]; {
			case x.granted():
				flying = append(flying, x)
			case loose == nil || shorter(asked[x], asked[loose]) == asked[x]:
				loose = x
			}
		}
		flying = slices.DeleteFunc(flying, func(x *op) bool { return x.to.event < h.from.event })
		all := append(h.grants(), flying...)
		if loose != nil {
			all = append(all, loose)
		}
		for _, x := range extends[next:] {
			if x.from.event > h.gone() {
				break
			}
			if x.Attempt != h.Attempt {
				all = append(all, x)
			}
		}
		if len(all) > len(h.extends)+1 {
			slices.SortFunc(all, func(a, b *op) int { return a.from.event - b.from.event })
			h.common = steps(all, func(o *op) time.Duration { return asked[o] })
		}
	}
}

// gone is the event by which nothing of h can be left, or pending.
func (h *hold) gone() int {
	last := h.end.event
	for _, r := range h.releases {
		if last = max(last, r.to.event); r.outcome == histories.Info { // it may come yet
			return pending
		}
	}
	return last
}

// A payback is a release that was not refused.
type payback struct {
	*op
	of      *hold
	certain bool // it is the first of its hold, and came when that had certainly been granted
}

// returned is the event by which it had its effect, or pending.
func (p payback) returned() int {
	if p.outcome != histories.OK {
		return pending
	}
	return p.to.event
}

// spend notes which holds of one client may have been given back by a release of another of them.
func spend(holds []*hold) {
	var all []payback
	for _, h := range holds {
		first := true
		for _, r := range h.releases {
			if r.outcome != histories.Fail {
				all = append(all, payback{r, h, first && h.granted() && h.to.event < r.from.event})
				first = false
			}
		}
	}
	slices.SortFunc(all, func(a, b payback) int { return a.from.event - b.from.event })
	var live []payback // that began before a hold, and may have come after its acquire
	next := 0
	for _, h := range holds {
		for ; next < len(all) && all[next].from.event < h.from.event; next++ {
			live = append(live, all[next])
		}
		live = slices.DeleteFunc(live, func(p payback) bool { return p.returned() < h.from.event })
		if p := slices.IndexFunc(live, func(p payback) bool { return takes(p, h) }); p >= 0 {
			h.spent = h.from.event
			continue
		}
		for _, p := range all[next:] {
			if p.from.event > h.back() {
				break
			}
			if p.of != h && takes(p, h) {
				h.spent = p.from.event
				break
			}
		}
	}
}

// back is the event by which the calls were over that gave h back, or pending.
func (h *hold) back() int {
	if h.stop() == pending {
		return pending
	}
	last := 0
	if h.by == lost {
		last = h.end.event
	}
	for _, r := range h.releases {
		last = max(last, r.to.event)
	}
	return last
}

// takes reports whether a release of another hold may have given h back.
func takes(p payback, h *hold) bool {
	first, last := p.of, h
	if first.to.event > last.to.event {
		first, last = last, first
	}
	if !h.granted() {
		return true // it need not have been counted
	}
	back := p.of.givesBack(p.from.event, pending) || p.of.spent < p.returned()
	return !p.certain || back || first.until(last.to) <= last.to.time
}

func stepAt(all []step, event int) step {
	i, found := slices.BinarySearchFunc(all, event, func(s step, event int) int { return cmp.Compare(s.event, event) })
	switch {
	case found:
		return all[i]
	case i == 0:
		return step{}
	}
	return all[i-1]
}

// owed is the time until which the lease of h certainly runs, as far as is known at an event.
func (h *hold) owed(event int) time.Duration {
	end := sure(h.from.time, h.TTL)
	if len(h.extends) > 0 {
		end = stepAt(h.lease, event).until
	}
	if h.common != nil {
		end = min(end, stepAt(h.common, event).until)
	}
	return end
}

// until is owed, and never beyond the deadline that was told.
func (h *hold) until(by moment) time.Duration {
	end := h.owed(by.event)
	if len(h.extends) > 0 {
		return min(end, stepAt(h.lease, by.event).told)
	}
	if h.deadline > 0 {
		end = min(end, h.deadline)
	}
	return end
}

// mayRun is the rank up to which a server may have h, unless it was given back: the accepted release's
// return, or a lease and the slack after the latest sign of it.
func (k *table) mayRun(h *hold) rank {
	if r := h.accepted(); r != nil {
		return at(r.to.event)
	}
	if end := k.mayRunUntil(h); end != forever {
		return k.gap(end)
	}
	return never
}

// mayRunUntil is the time up to which a server may have h if no release came to it; forever if there is no telling.
func (k *table) mayRunUntil(h *hold) time.Duration {
	if h.TTL <= 0 || h.isOpen() || h.to.event == pending && h.by != crash {
		return forever
	}
	latest, ttl := max(h.to.time, h.end.time), h.TTL
	for _, x := range h.extends {
		latest, ttl = max(latest, x.to.time, x.from.time), max(ttl, x.TTL)
	}
	for _, r := range h.releases {
		if r.to.event == pending {
			return forever
		}
		latest = max(latest, r.to.time)
	}
	return plus(plus(latest, ttl), k.terms.Slack)
}
