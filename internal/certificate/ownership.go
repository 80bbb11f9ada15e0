package certificate

import (
	"cmp"
	"slices"

	"github.com/lockbench/lockbench/histories"
)

// A sighting is the call by which it was seen that a hold had vanished, with the call of who saw it.
type sighting struct {
	call *op
	by   kind
}

// foreign looks for holds that vanished while they certainly were in force, and an accepted release or
// extend of somebody else that may have ended them.
func foreign(k *table, yield func(finding)) { k.foreign(nil, yield) }

// foreignByWire is foreign where it is known what crossed the wire.
func foreignByWire(k *table, yield func(finding)) { k.foreign(k.wire, yield) }

func (k *table) foreign(w *wire, yield func(finding)) {
	next := k.nextGrants()
	var accepted []*op // releases and extends, in order of invocations
	var reached []int  // when the last of those so far returned
	refused := make(map[uint64][]*op)
	var taken []*op
	for _, o := range k.calls {
		switch {
		case o.taken:
			taken = append(taken, o)
		case o.F != release && o.F != extend:
		case o.outcome == histories.OK:
			last := o.to.event
			if n := len(reached); n > 0 {
				last = max(last, reached[n-1])
			}
			accepted, reached = append(accepted, o), append(reached, last)
		case o.F == extend && o.notHeld:
			refused[o.Attempt] = append(refused[o.Attempt], o)
		}
	}
	for _, b := range k.holds {
		if !b.granted() {
			continue
		}
		gone, ok := k.vanished(b, refused[b.Attempt], next)
		if !ok {
			continue
		}
		since := b.from.event // when it was certainly in force last
		for _, x := range b.extends {
			if x.granted() && x.to.event < gone.call.from.event {
				since = max(since, x.from.event)
			}
		}
		begun, _ := slices.BinarySearchFunc(accepted, gone.call.to.event, func(o *op, event int) int { return cmp.Compare(o.from.event, event) })
		var suspects []*op
		for i, o := range slices.Backward(accepted[:begun]) {
			if reached[i] < since {
				break
			}
			h := k.of[o.Attempt]
			if o.Attempt != b.Attempt && o.to.event > since && (h == nil || b.Mode != withItself || !h.shares(b)) && !keeps(h, o, b) {
				suspects = append(suspects, o)
			}
		}
		if len(suspects) > 0 {
			if f := k.ended(w, b, gone, suspects, taken); f.certain || f.why != "" {
				yield(f)
			}
		}
	}
}

// ended is the finding that one of some calls ended a hold; the zero value if the wire shows that none did.
func (k *table) ended(w *wire, b *hold, gone sighting, suspects, taken []*op) finding {
	slices.SortStableFunc(suspects, func(a, b *op) int {
		return cmp.Compare(b2i(a.F == extend), b2i(b.F == extend))
	})
	if k.server.meets(between(k.since(b, suspects[0]), gone.call.to.event)) {
		return doubt("a fault may have done the same")
	}
	told := w.testify(k, b, gone.call.to, suspects)
	switch {
	case told.by != nil:
		suspects = []*op{told.by}
	case told.cleared:
		return finding{}
	}
	a := suspects[0]
	attempts := []uint64{b.Attempt}
	parts := []part{{"granted", b.to.event}}
	for _, o := range suspects[:min(len(suspects), 8)] {
		parts, attempts = append(parts, part{"suspect", o.to.event}), append(attempts, o.Attempt)
	}
	f := k.violation(append(parts, part{"seen", gone.call.to.event}), append(attempts, gone.call.Attempt),
		less("time at which it was seen", gone.call.to.time, "end of the lease", b.until(gone.call.to)),
		less("acquire of the hold", b.from.event, "return of the suspect", a.to.event),
		less("invocation of the suspect", a.from.event, "event at which it was seen", gone.call.to.event))
	switch {
	case told.by != nil:
		f.commands = []part{{"took", told.took}, {"ended", told.ended}}
	case k.still(b, gone, suspects, taken):
		f.certain, f.why = false, "somebody was refused the key later, and nobody else can have had it"
	default:
		var other bool
		if f.commands, other = k.otherwise(w, b, gone, suspects); other {
			f.certain, f.why = false, "one may have been let in beside another"
		}
	}
	return f
}

// since is where the first of a hold and of that of a call was asked for.
func (k *table) since(b *hold, o *op) int {
	if h := k.of[o.Attempt]; h != nil {
		return min(b.from.event, h.from.event)
	}
	return b.from.event
}

// keeps reports whether an extend of another party was answered when that one certainly had the key, so that b
// came later.
func keeps(a *hold, o *op, b *hold) bool {
	return o.F == extend && a != nil && !a.shares(b) && a.granted() && a.to.event < o.from.event && a.end.event > o.to.event &&
		a.until(moment{event: o.from.event - 1}) > o.to.time && b.follows(a)
}

// still reports whether an acquire was refused after the suspects' calls, though nobody else had the key.
func (k *table) still(b *hold, gone sighting, suspects, taken []*op) bool {
	from := gone.call.from.event
	for _, o := range suspects {
		from = max(from, o.to.event)
	}
	i := slices.IndexFunc(taken, func(o *op) bool { return o.from.event >= from })
	return gone.by != acquire && i >= 0 && b.until(taken[i].to) > taken[i].to.time && len(k.met(b, taken[i].to.event)) == 0
}

// otherwise reports whether somebody may have been let in beside another, which explains a sighting as well as
// the suspects do. If only a command of theirs says that it does not, that came when b had been granted, it is returned.
func (k *table) otherwise(w *wire, b *hold, gone sighting, suspects []*op) (came []part, other bool) {
	if gone.by != acquire {
		return nil, k.admitted(b, gone.call.to.event)
	}
	c, honest := k.of[gone.call.Attempt], true
	for _, o := range suspects {
		a := k.of[o.Attempt]
		if a != nil && !a.shares(b) && !b.follows(a) {
			return nil, true
		}
		honest = honest && a != nil && (o.from.event < b.to.event || a.shares(b) || a.shares(c))
	}
	if len(k.met(b, gone.call.from.event)) > 0 {
		return nil, true
	}
	if !honest {
		return nil, false
	}
	if command, found := w.reached(k, b, gone.call.to, suspects); found {
		return []part{{"came", command}}, false
	}
	return nil, true
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// nextGrants returns, for the place of each hold, that of it and of those behind it which was granted first.
func (k *table) nextGrants() []*hold {
	next := make([]*hold, len(k.holds)+1)
	for i, h := range slices.Backward(k.holds) {
		next[i] = next[i+1]
		if h.granted() && (next[i] == nil || h.to.event < next[i].to.event) {
			next[i] = h
		}
	}
	return next
}

// vanished is the first sighting that a hold was gone although it was certainly in force.
func (k *table) vanished(b *hold, refused []*op, next []*hold) (first sighting, found bool) {
	consider := func(o *op, by kind) {
		own := func(x *op) bool { return x.granted() && x.to.event > o.from.event }
		if by != acquire && (slices.ContainsFunc(b.extends, own) || slices.ContainsFunc(b.releases, own)) {
			return // it was the refusal that was untrue
		}
		if o.to.time < b.until(o.to) && b.spent >= o.to.event && !b.lapsed(o.to.event) && (!found || o.to.event < first.call.to.event) {
			first, found = sighting{o, by}, true
		}
	}
	released := len(k.times)
	if len(b.releases) > 0 {
		r := b.releases[0]
		released = r.from.event
		if r.outcome == histories.Fail && released > b.to.event && !k.any.meets(between(released, r.to.event)) && !b.givesBack(released, r.to.event) {
			consider(r, release)
		}
	}
	for _, x := range refused {
		if x.from.event > b.to.event && x.to.event < released && !k.any.meets(between(x.from.event, x.to.event)) {
			consider(x, extend)
		}
	}
	after, _ := slices.BinarySearchFunc(k.holds, b.to.event, func(h *hold, event int) int { return h.from.event - event })
	if c := k.usurper(b, after, released, next); c != nil {
		consider(c.op, acquire)
	}
	return first, found
}

// usurper is the hold from a place on that was granted first, before an event, of those that may not share
// the key with b; nil if there is none.
func (k *table) usurper(b *hold, place, by int, next []*hold) (found *hold) {
	switch first := next[place]; {
	case first == nil || first.to.event >= by:
		return nil
	case !first.shares(b):
		return first
	}
	for _, h := range k.holds[place:] {
		if h.from.event >= by {
			break
		}
		if h.granted() && h.to.event < by && !h.shares(b) && (found == nil || h.to.event < found.to.event) {
			found = h
		}
	}
	return found
}
