package checker

import (
	"cmp"
	"slices"

	"github.com/lockbench/lockbench/histories"
)

// A contest is who had a hand in a key. What a hold certainly is by its lease, it is on the server only
// as long as nobody else can have reached the key: whom the lock let in beside it, or whose release or
// extend met it. Which of these it was is for other properties to tell.
type contest struct {
	*stretch
	grants, calls touches   // calls are releases and extends
	lasting       []lasting // lasting[i] is that of the leases of grants.all[:i+1] which reaches furthest
	firsts        map[sought]int
	built         bool
}

// lasting is a hold, and how far its lease reaches at most.
type lasting struct {
	hold *histories.Hold
	to   rank
}

// A touch is a call that may have reached a key.
type touch struct {
	by       party           // who made it; of releases and extends a reader stands for himself
	hold     *histories.Hold // of its attempt; nil if that was refused
	refused  bool
	invoked  int // event
	returned int // event by which it had its effect, or unknown
}

// touches are in order of invocations.
type touches struct {
	all    []touch
	latest []int   // latest[i] is when the last of all[:i+1] returned, of those that did
	loose  []touch // those of all that never did
}

func (t *touches) add(one touch) {
	latest := one.returned
	if latest == unknown {
		t.loose, latest = append(t.loose, one), 0
	}
	if n := len(t.latest); n > 0 {
		latest = max(latest, t.latest[n-1])
	}
	t.all, t.latest = append(t.all, one), append(t.latest, latest)
}

// find returns a touch that may have come after h was asked for, and before an event, of which counts
// is true; nil if there is none.
func (t *touches) find(h *histories.Hold, before int, counts func(*touch) bool) *touch {
	for i := range t.loose {
		if one := &t.loose[i]; one.invoked < before && counts(one) {
			return one
		}
	}
	return t.settled(h, before, counts)
}

// settled is find without the calls that never returned and were invoked before h.
func (t *touches) settled(h *histories.Hold, before int, counts func(*touch) bool) *touch {
	next, _ := slices.BinarySearchFunc(t.all, h.Invoked.Event, func(one touch, event int) int { return cmp.Compare(one.invoked, event) })
	for i := next - 1; i >= 0 && t.latest[i] > h.Invoked.Event; i-- {
		if one := &t.all[i]; one.returned > h.Invoked.Event && counts(one) {
			return one
		}
	}
	for ; next < len(t.all) && t.all[next].invoked < before; next++ {
		if one := &t.all[next]; counts(one) {
			return one
		}
	}
	return nil
}

// build looks through the calls. It is done when somebody would be accused, and not before.
func (c *contest) build() {
	if c.built {
		return
	}
	c.built, c.firsts = true, make(map[sought]int)
	own := make(map[uint64]*histories.Hold, len(c.holds))
	for _, h := range c.holds {
		own[h.Attempt] = h
		if proof := shownOf(h); proof != (histories.Instant{}) {
			c.grants.add(touch{by: partyOf(h), hold: h, invoked: h.Invoked.Event, returned: proof.Event})
			last := lasting{h, c.over(h)}
			if n := len(c.lasting); n > 0 && c.lasting[n-1].to > last.to {
				last = c.lasting[n-1]
			}
			c.lasting = append(c.lasting, last)
		}
	}
	for _, o := range c.stretch.calls {
		if o.Invoke.F != histories.Release && o.Invoke.F != histories.Extend || o.Complete.Invalid() {
			continue
		}
		h := own[o.Invoke.Attempt]
		by := party{attempt: o.Invoke.Attempt}
		if h != nil {
			by = caller(h)
		}
		returned := unknown
		if o.Done && o.Outcome() != histories.Info {
			returned = o.Complete.Index
		}
		c.calls.add(touch{by, h, o.Outcome() == histories.Fail, o.Invoke.Index, returned})
	}
}

// shownOf is when it was certain that h had been granted, by whatever answer.
func shownOf(h *histories.Hold) histories.Instant {
	proof := grantOf(h)
	if r, ok := accepted(h); ok && (proof == (histories.Instant{}) || r.Returned.Event < proof.Event) {
		proof = r.Returned
	}
	return proof
}

// admitted is a hold of another party that was let in beside h, before an event, or, as it was let in beside
// somebody, may have been. Nil: there is none.
func (c *contest) admitted(h *histories.Hold, before int) *histories.Hold {
	if rival := c.met(h, before); rival == nil || c.clashes(h) {
		return rival
	}
	return c.other(h, before, func(other *histories.Hold) bool { return c.clash(h, other) || c.clashes(other) })
}

// met is a hold of another party that may have been granted after h was asked for, and before an event,
// if locks let in whom they like. Nil: there is none.
func (c *contest) met(h *histories.Hold, before int) *histories.Hold {
	return c.other(h, before, func(*histories.Hold) bool { return true })
}

func (c *contest) other(h *histories.Hold, before int, counts func(*histories.Hold) bool) *histories.Hold {
	c.build()
	if t := c.grants.find(h, before, func(t *touch) bool { return t.hold != h && !t.hold.Shares(*h) && counts(t.hold) }); t != nil {
		return t.hold
	}
	return nil
}

// clashes reports whether h was let in beside another party, or another beside it.
func (c *contest) clashes(h *histories.Hold) bool {
	by := unknown
	if over := c.over(h); over != never {
		by = max(int(over/2), shownOf(h).Event) + 1
	}
	if c.other(h, by, func(other *histories.Hold) bool { return c.clash(h, other) }) != nil {
		return true
	}
	next, _ := slices.BinarySearchFunc(c.grants.all, h.Invoked.Event, func(one touch, event int) int { return cmp.Compare(one.invoked, event) })
	for i := next - 1; i >= 0 && c.lasting[i].to > at(shownOf(h).Event); i-- {
		if c.clash(h, c.lasting[i].hold) || c.clash(h, c.grants.all[i].hold) {
			return true
		}
	}
	return false
}

// over is where the lease of h certainly is over, as far as a clash goes.
func (c *contest) over(h *histories.Hold) rank {
	stop, _ := givenUp(h)
	return min(stop, c.gap(c.leases.latest(h)))
}

// clash reports whether neither of two holds, both of which were granted, can have come when the other was over.
func (c *contest) clash(a, b *histories.Hold) bool {
	return a != b && !a.Shares(*b) && !c.follows(a, b) && !c.follows(b, a)
}

// follows reports whether a hold may have been granted when another was over, by what that one's own calls tell.
func (c *contest) follows(h, before *histories.Hold) bool {
	shown, known := shownOf(h), max(shownOf(h).Event, shownOf(before).Event)
	stop, _ := givenUp(before)
	return shown.Event > before.Invoked.Event && (stop < at(shown.Event) || c.leases.alone(before, known) <= shown.Time)
}

// touched reports whether another's release or extend may have reached the key since h was asked for, and
// before an event. Those of one attempt do not count.
func (c *contest) touched(h *histories.Hold, before int, but uint64) bool {
	by := caller(h)
	return c.first(sought{h, but, false}, func(t *touch) bool { return t.by != by && (t.hold == nil || t.hold.Attempt != but) }) < before
}

// denied reports whether the client of h was refused a release or an extend since, before an event: that may have been
// untrue, and done.
func (c *contest) denied(h *histories.Hold, before int) bool {
	by := caller(h)
	return c.first(sought{h, 0, true}, func(t *touch) bool { return t.by == by && t.refused }) < before
}

// sought is what was asked about a hold: whether another's call touched it, or one of its own was denied.
type sought struct {
	hold   *histories.Hold
	but    uint64 // attempt
	denied bool
}

// first is the event at which the first release or extend was invoked that may have come after a hold was asked for, and
// of which counts is true; unknown if there is none. It is looked for once.
func (c *contest) first(of sought, counts func(*touch) bool) int {
	c.build()
	event, known := c.firsts[of]
	if !known {
		event = unknown
		if t := c.calls.settled(of.hold, unknown, counts); t != nil {
			event = t.invoked
		}
		for i := range c.calls.loose {
			if one := &c.calls.loose[i]; counts(one) {
				event = min(event, one.invoked)
			}
		}
		c.firsts[of] = event
	}
	return event
}

// caller is who releases and extends h: a reader stands for himself.
func caller(h *histories.Hold) party {
	if h.Mode == histories.Shared {
		return party{attempt: h.Attempt}
	}
	return partyOf(h)
}
