package certificate

import (
	"slices"
	"time"

	"github.com/lockbench/lockbench/histories"
)

// untrue looks for answers that the key can be seen to contradict.
func untrue(k *table, yield func(finding)) { k.untrue(nil, yield) }

// untrueByWire is untrue where it is known what crossed the wire.
func untrueByWire(k *table, yield func(finding)) { k.untrue(k.wire, yield) }

func (k *table) untrue(w *wire, yield func(finding)) {
	k.leftBehind(yield)
	k.refusedOwn(yield)
	granted := k.granted
	last := 0        // of granted, before the call
	var live []*hold // of those before the call that may be certain
	denials := make(map[uint64][]*op)
	for _, o := range k.calls {
		if o.F != release && o.F != extend && o.F != ask {
			continue
		}
		for ; last < len(granted) && granted[last].to.event < o.from.event; last++ {
			live = append(live, granted[last])
		}
		h := k.of[o.Attempt]
		silent := k.terms.SilentRelease && o.F == release
		switch {
		case o.to.event == pending:
		case h == nil:
			if r := k.refused[o.Attempt]; r != nil && r.taken && !silent && o.outcome == histories.OK && k.terms.Masters <= 1 && !k.any.meets(between(r.from.event, o.to.event)) {
				yield(k.violation([]part{{"refused", r.to.event}, {"done", o.to.event}}, []uint64{o.Attempt}))
			}
		case o.outcome == histories.OK && !silent:
			var others []*hold // that may have had the key since, the latest first
			if h.TTL > 0 && (len(h.extends) > 0 || h.common != nil || h.until(o.from) <= o.from.time) {
				live = slices.DeleteFunc(live, func(b *hold) bool { return b.end.event < o.from.event || b.until(o.to) <= o.from.time })
				others = slices.Concat(granted[max(last-1, 0):last], live)
			}
			k.done(h, o, others, yield)
			k.after(h, o, denials[h.Attempt], yield)
		case o.notHeld:
			k.denied(w, h, o, yield)
			denials[h.Attempt] = append(denials[h.Attempt], o)
		}
	}
}

// done looks for why the "done" of a release or extend, or the "yes" of a verify, is untrue: it was given back before, or the key was
// certainly another's, or had been since it was the caller's.
func (k *table) done(h *hold, o *op, others []*hold, yield func(finding)) {
	calm := func(from int) bool { return !k.server.meets(between(from, o.to.event)) }
	for _, r := range h.releases {
		both := o.F == release && r.from.event < o.from.event // none of two that meet can come second
		if r.outcome != histories.OK || r.to.event > o.from.event && !both {
			continue
		}
		over := max(r.to.event, o.to.event)
		if (h.Mode == withNobody || !k.hasMore(h, over)) && !k.server.meets(between(h.from.event, over)) {
			yield(k.violation([]part{{"released", r.to.event}, {"done", o.to.event}}, []uint64{h.Attempt},
				less("invocation of the release", r.from.event, "invocation of the call", o.from.event)))
		}
		break
	}
	if !h.granted() || h.TTL <= 0 || len(others) == 0 {
		return
	}
	over := func(b *hold) bool {
		return h.to.event < b.from.event && h.owed(b.to.event) <= b.to.time && !b.shares(h) && !k.reentered(h, b, o)
	}
	for _, b := range others[1:] {
		if b.end.event > o.to.event && b.until(o.to) > o.to.time && over(b) && calm(min(h.from.event, b.from.event)) {
			yield(k.violation([]part{{"granted", h.to.event}, {"other", b.to.event}, {"done", o.to.event}}, []uint64{h.Attempt, b.Attempt},
				most("end of the caller's lease", h.owed(b.to.event), "grant of the other", b.to.time),
				less("return of the call", o.to.time, "end of the other's lease", b.until(o.to))))
			return
		}
	}
	if b := others[0]; o.F == extend && over(b) && calm(h.from.event) {
		yield(k.violation([]part{{"granted", h.to.event}, {"other", b.to.event}, {"revived", o.to.event}}, []uint64{h.Attempt, b.Attempt},
			most("end of the caller's lease", h.owed(b.to.event), "grant of the other", b.to.time)))
	}
}

// reentered reports whether the client of h may have had the key again, after b, by an answer.
func (k *table) reentered(h, b *hold, o *op) bool {
	return h.Mode == withItself && slices.ContainsFunc(k.holds, func(g *hold) bool {
		return g != h && g.shares(h) && (!g.granted() || g.to.event > b.from.event) && g.from.event < o.to.event
	})
}

// hasMore reports whether the client of h had asked before an event for what may have shared the key with h.
func (k *table) hasMore(h *hold, before int) bool {
	return slices.ContainsFunc(k.holds, func(b *hold) bool {
		return b != h && b.Worker == h.Worker && b.from.event < before && b.shares(h)
	})
}

// after looks for a "done" of what had been called not the caller's.
func (k *table) after(h *hold, o *op, denials []*op, yield func(finding)) {
	proof := h.proof()
	if k.terms.Masters > 1 || proof.event == pending || h.until(o.to) <= o.to.time || h.Mode == withItself && k.hasMore(h, o.to.event) || k.any.meets(between(h.from.event, o.to.event)) {
		return
	}
	i := slices.IndexFunc(denials, func(d *op) bool { return d.from.event > proof.event && d.to.event < o.from.event })
	if i >= 0 {
		yield(k.violation([]part{{"granted", proof.event}, {"denied", denials[i].to.event}, {"done", o.to.event}}, []uint64{h.Attempt},
			less("return of the denial", denials[i].to.event, "invocation of the call", o.from.event)))
	}
}

// denied looks for a "not yours" of what certainly was the caller's.
func (k *table) denied(w *wire, h *hold, o *op, yield func(finding)) {
	proof := h.proof()
	ended := !h.isOpen() && h.end.event < o.to.event && h.end.event != o.from.event
	if proof.event > o.from.event || ended || h.givesBack(o.from.event, o.to.event) || h.until(o.to) <= o.to.time || k.any.meets(between(h.from.event, o.to.event)) {
		return
	}
	if h.spent < o.to.event || h.Mode == withItself && h.lapsed(o.to.event) || k.touched(h, o.to.event, 0) || k.admitted(h, o.to.event) {
		return
	}
	if w.ranOut(k, h, o.to.time) || w.takenAway(k, h, o.to.time) {
		return // the refusal is true: the key had run out sooner than was asked for, or another had written over it
	}
	yield(k.violation([]part{{"granted", proof.event}, {"denied", o.to.event}}, []uint64{h.Attempt},
		less("return of the call", o.to.time, "end of the lease", h.until(o.to))))
}

// leftBehind looks for audits of a key on one of several masters that an acquire must have left there
// which was refused.
func (k *table) leftBehind(yield func(finding)) {
	if k.terms.Masters < 2 {
		return
	}
	var lease time.Duration
	for _, o := range k.calls {
		lease = max(lease, o.TTL)
	}
	for _, e := range k.told {
		if e.F != histories.Audit || e.TTL == histories.NoTTL || e.Value == "" {
			continue
		}
		var last *op
		for _, o := range k.calls {
			if o.F == acquire && o.wasRefused() && o.to.event < e.Index {
				last = o
			}
		}
		held := slices.ContainsFunc(k.holds, func(h *hold) bool {
			return h.from.event < e.Index && (h.by == crash || k.mayRun(h) > at(e.Index) || k.mayBeKept(h, e))
		})
		brought := slices.ContainsFunc(k.faults, func(f fault) bool {
			return f.from < at(e.Index) && !k.ofClient(f) && plus(f.over, plus(lease, k.terms.Slack)) > e.Time
		})
		if last != nil && !held && !brought {
			yield(k.violation([]part{{"refused", last.to.event}, {"audit", e.Index}}, []uint64{last.Attempt}))
		}
	}
}

// mayBeKept reports whether a master may still have a hold whose release was accepted: a fault touched its client then or later, and
// its lease may run.
func (k *table) mayBeKept(h *hold, audit histories.Event) bool {
	r := h.accepted()
	touched := func(f fault) bool { return k.ofClient(f) && k.touches(f, h.Worker) }
	return r != nil && k.covering(touched).meets(between(r.from.event, audit.Index)) && k.mayRunUntil(h) > audit.Time
}

// refusedOwn looks for the first "taken" on a key when nobody else can have had it.
func (k *table) refusedOwn(yield func(finding)) {
	s := k.supply()
	for i := range s.taken {
		s.taken[i].to = never
		if r := s.taken[i].hold.accepted(); r != nil {
			s.taken[i].to = at(r.to.event)
		}
	}
	s.sick = cover{{k.firstDoubt(), never}}
	for i, free := range s.alone(s.wanted(), false) {
		if o := s.asked[i]; free && o.taken {
			yield(k.violation([]part{{"asked", o.from.event}, {"refused", o.to.event}}, []uint64{o.Attempt}))
			return
		}
	}
}

// firstDoubt is from when on a fault may have made servers hold something else than the calls tell.
func (k *table) firstDoubt() rank {
	doubt, clients := never, k.covering(func(f fault) bool { return k.ofClient(f) })
	for _, f := range k.faults {
		if !k.ofClient(f) {
			doubt = min(doubt, f.from)
		}
	}
	for _, o := range k.calls {
		if locks(o.F) && (o.F != acquire || !o.invalid) && clients.meets(k.calling(o)) {
			return min(doubt, k.calling(o).to)
		}
	}
	return doubt
}
