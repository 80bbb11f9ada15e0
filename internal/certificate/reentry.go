package certificate

import (
	"slices"
	"strconv"

	"github.com/lockbench/lockbench/histories"
)

// reentered looks for counts of what a client entered that are too low or too high, and for re-entries
// that were refused.
func reentered(t *tables, yield func(finding)) {
	deep := false
	for _, k := range t.keys {
		entered := make(map[int][]*hold) // by worker
		for _, h := range k.holds {
			if h.Mode == withItself {
				entered[h.Worker] = append(entered[h.Worker], h)
			}
		}
		live := make(map[int][]*hold) // of those that began, what may count
		for _, o := range k.calls {
			refused := o.F == acquire && o.Mode == withItself && o.taken
			if o.to.event == pending || !refused && (o.F != count || o.outcome != histories.OK) {
				continue
			}
			mine := live[o.Worker]
			for next := entered[o.Worker]; len(next) > 0 && next[0].from.event < o.to.event; next = entered[o.Worker] {
				mine, entered[o.Worker] = append(mine, next[0]), next[1:]
			}
			mine = slices.DeleteFunc(mine, func(h *hold) bool { return h.givenBack() < o.from.event })
			live[o.Worker] = mine
			sure := slices.DeleteFunc(slices.Clone(mine), func(h *hold) bool { return !k.counted(h, o) })
			if k.deny(o, refused, mine, sure, yield) {
				deep = true
			}
		}
	}
	if !deep {
		yield(doubt("nobody asked while he certainly held a key twice"))
	}
}

// deny yields what is wrong of an answer, and says whether it is of a client that certainly held a key
// twice.
func (k *table) deny(o *op, refused bool, mine, sure []*hold, yield func(finding)) (deep bool) {
	parts, attempts := []part(nil), []uint64(nil)
	name := func(role string, holds []*hold) {
		for _, h := range holds[:min(len(holds), maxEvents-1)] {
			event := h.to.event
			if !h.granted() {
				event = h.from.event
			}
			parts, attempts = append(parts, part{role, event}), append(attempts, h.Attempt)
		}
	}
	undisputed := slices.DeleteFunc(slices.Clone(sure), func(h *hold) bool { return k.disputed(h, o) })
	if refused {
		if sure = slices.DeleteFunc(undisputed, k.clashes); len(sure) > 0 {
			name("held", sure[:1])
			yield(k.violation(append(parts, part{"refused", o.to.event}), append(attempts, o.Attempt)))
		}
		return false
	}
	n, err := strconv.Atoi(k.texts[o.text])
	deep = len(sure) > 1
	joined := slices.ContainsFunc(sure, func(h *hold) bool { return k.admitted(h, o.to.event) })
	if n < len(sure) && (len(undisputed) > 0 || n == 0 || joined) {
		sure = undisputed // what others end they end as a whole
	}
	switch {
	case err != nil:
		yield(doubt("a count is no number"))
	case n < len(sure):
		name("held", sure[:min(max(n, 0)+1, len(sure))])
		yield(k.violation(append(parts, part{"count", o.to.event}), attempts, less("count", n, "holds that were in force", len(sure))))
	case n > len(mine) && !k.server.meets(between(-1, o.to.event)):
		name("may", mine)
		yield(k.violation(append(parts, part{"count", o.to.event}), attempts, less("holds that there can have been", len(mine), "count", n)))
	}
	return deep
}

// givenBack is the event from which on the lock has answered that h is over.
func (h *hold) givenBack() int {
	for _, r := range h.releases {
		if r.outcome == histories.OK && h.granted() && h.to.event < r.from.event {
			return r.to.event
		}
	}
	return pending
}

// lapsed reports whether an extend was accepted, before an event, when the lease of h may have been over.
func (h *hold) lapsed(by int) bool {
	for _, x := range inOrderOfAnswers(h.extends) {
		if x.granted() && x.from.event > h.to.event && h.until(moment{event: x.from.event - 1}) <= x.from.time {
			return x.from.event < by
		}
	}
	return false
}

// counted reports whether h was certainly in force during all of a call.
func (k *table) counted(h *hold, o *op) bool {
	return h.granted() && h.to.event < o.from.event && h.end.event > o.to.event && h.spent > o.to.event && !h.lapsed(o.to.event) &&
		h.until(o.to) > o.to.time && !k.server.meets(between(h.from.event, o.to.event))
}

// disputed reports whether somebody else may have ended h by the answer to a call, or a call that was refused.
func (k *table) disputed(h *hold, o *op) bool {
	return k.admitted(h, o.to.event) || k.touched(h, o.to.event, 0) || k.wasDenied(h, o.to.event)
}
