package certificate

import (
	"cmp"
	"slices"
	"time"

	"github.com/lockbench/lockbench/histories"
)

// shown is when it was certain that h had been granted, by whatever answer; pending: it never was.
func (h *hold) shown() moment {
	proof := h.proof()
	if back := h.accepted(); back != nil && back.to.event < proof.event {
		proof = back.to
	}
	return proof
}

// alone is until when the lease of h certainly runs, if nothing else of its client moves it.
func (h *hold) alone(event int) time.Duration {
	if len(h.extends) > 0 {
		return stepAt(h.lease, event).until
	}
	return sure(h.from.time, h.TTL)
}

// follows reports whether h may have been granted when another was over, by what that one's own calls tell.
func (h *hold) follows(before *hold) bool {
	shown := h.shown()
	return shown.event > before.from.event &&
		(before.stop() < shown.event || before.alone(max(shown.event, before.shown().event)) <= shown.time)
}

// clash reports whether neither of two holds, both of which were granted, can have come when the other was over.
func clash(a, b *hold) bool {
	return a != b && a.shown().event != pending && b.shown().event != pending && !a.shares(b) && !a.follows(b) && !b.follows(a)
}

// over is where the lease of h certainly is over, as far as a clash goes.
func (k *table) over(h *hold) rank {
	end := sure(h.from.time, h.TTL)
	for _, s := range h.lease {
		end = max(end, s.until)
	}
	if stop := h.stop(); stop != pending && k.times[stop] < end {
		return at(stop)
	}
	return min(at(h.stop()), k.gap(end))
}

// A lasting is a hold, and where it is over.
type lasting struct {
	*hold
	to rank
}

// contests notes how far holds and calls reach, each with those before it.
func (k *table) contests() {
	k.longest, k.shown, k.answered = make([]lasting, len(k.holds)), make([]int, len(k.holds)), make([]int, len(k.calls))
	for i, h := range k.holds {
		if shown := h.shown().event; shown != pending {
			k.longest[i], k.shown[i] = lasting{h, k.over(h)}, shown
		}
		if i > 0 {
			k.shown[i] = max(k.shown[i], k.shown[i-1])
			if k.longest[i-1].to >= k.longest[i].to {
				k.longest[i] = k.longest[i-1]
			}
		}
	}
	for i, o := range k.calls {
		switch {
		case o.F != release && o.F != extend || o.invalid:
		case o.outcome == histories.Info:
			k.loose = append(k.loose, o)
		default:
			k.answered[i] = o.to.event
		}
		if i > 0 {
			k.answered[i] = max(k.answered[i], k.answered[i-1])
		}
	}
}

// place is where h is among the holds, with those of them before it, or before that, that last longest.
func (k *table) place(h *hold) (int, []lasting) {
	i, _ := slices.BinarySearchFunc(k.holds, h.from.event, func(o *hold, event int) int { return o.from.event - event })
	return i, k.longest
}

// clashes reports whether h was let in beside another party, or another beside it.
func (k *table) clashes(h *hold) bool {
	if h.shown().event == pending {
		return false
	}
	i, longest := k.place(h)
	over := max(k.over(h), at(h.shown().event))
	for _, other := range k.holds[i:] {
		if at(other.from.event) > over {
			break
		}
		if clash(h, other) {
			return true
		}
	}
	for i--; i >= 0 && longest[i].to > at(h.from.event); i-- {
		if clash(h, longest[i].hold) || clash(h, k.holds[i]) {
			return true
		}
	}
	return false
}

// met are the holds of other parties that may have been granted after h was asked for, and before an event.
func (k *table) met(h *hold, before int) (all []*hold) {
	counts := func(other *hold) bool {
		shown := other.shown().event
		return other != h && !other.shares(h) && shown != pending && shown > h.from.event
	}
	i, _ := k.place(h)
	for _, other := range k.holds[i:] {
		if other.from.event >= before {
			break
		}
		if counts(other) {
			all = append(all, other)
		}
	}
	for _, other := range k.before(i, h.from.event) {
		if counts(other) {
			all = append(all, other)
		}
	}
	return all
}

// before are the holds before a place that were shown after an event, and others.
func (k *table) before(place, event int) []*hold {
	first, _ := slices.BinarySearch(k.shown[:place], event+1)
	return k.holds[first:place]
}

// admitted reports whether another party was let in beside h, before an event, or may have been, as it was
// let in beside somebody.
func (k *table) admitted(h *hold, before int) bool {
	met := k.met(h, before)
	return len(met) > 0 && (k.clashes(h) || slices.ContainsFunc(met, func(other *hold) bool { return clash(h, other) || k.clashes(other) }))
}

// reached reports whether a release or extend of which counts is true may have come after h was asked for, and
// before an event.
func (k *table) reached(h *hold, before int, counts func(o *op, own bool) bool) bool {
	own := func(o *op) bool {
		of := k.of[o.Attempt]
		return o.Attempt == h.Attempt || of != nil && of.Mode == withItself && of.shares(h)
	}
	for _, o := range k.loose {
		if o.from.event < before && counts(o, own(o)) {
			return true
		}
	}
	end, _ := slices.BinarySearchFunc(k.calls, max(before, h.from.event), func(o *op, event int) int { return o.from.event - event })
	first, _ := slices.BinarySearch(k.answered[:end], h.from.event+1)
	return slices.ContainsFunc(k.calls[first:end], func(o *op) bool {
		may := (o.F == release || o.F == extend) && !o.invalid && o.outcome != histories.Info
		return may && o.to.event > h.from.event && o.from.event < before && counts(o, own(o))
	})
}

// touched reports whether anybody else's may have, but those of one attempt.
func (k *table) touched(h *hold, before int, but uint64) bool {
	return k.reached(h, before, func(o *op, own bool) bool { return !own && (k.of[o.Attempt] == nil || o.Attempt != but) })
}

// wasDenied reports whether one of its own client was refused.
func (k *table) wasDenied(h *hold, before int) bool {
	return k.reached(h, before, func(o *op, own bool) bool { return own && o.outcome == histories.Fail })
}

// A task is a lease that has to begin from first to last, and runs for long at least.
type task struct {
	of                *hold
	first, last, long time.Duration
}

// chained yields that leases of which none was extended, and no holder shares, cannot have come one after the
// other: of those that were asked for at some time or later, and end at another or before, all together
// take longer than that.
func chained(k *table, yield func(finding)) {
	const century = 100 * 365 * 24 * time.Hour
	var tasks []task
	for _, h := range k.holds {
		if h.Mode == withNobody && h.granted() && len(h.extends) == 0 {
			long := min(sure(0, h.TTL), century)
			if stop := h.stop(); stop != pending {
				long = min(long, k.times[stop]-h.to.time)
			}
			tasks = append(tasks, task{h, h.from.time, h.to.time, max(0, long)})
		}
	}
	slices.SortFunc(tasks, func(a, b task) int { return a.of.to.event - b.of.to.event })
	free, fits := time.Duration(0), true // if each begins as early as it can
	for _, t := range tasks {
		free = max(free, t.first)
		fits = fits && free <= t.last
		free = plus(free, t.long)
	}
	if !fits {
		k.crowd(tasks, yield)
	}
}

// crowd yields the first tasks, in order of their latest ends, for which there is not the time.
func (k *table) crowd(tasks []task, yield func(finding)) {
	slices.SortStableFunc(tasks, func(a, b task) int { return cmp.Compare(plus(a.last, a.long), plus(b.last, b.long)) })
	byFirst := slices.SortedStableFunc(slices.Values(tasks), func(a, b task) int { return cmp.Compare(b.first, a.first) })
	for _, last := range tasks {
		end, sum := plus(last.last, last.long), time.Duration(0)
		var parts []part
		var attempts []uint64
		for _, t := range byFirst {
			if plus(t.last, t.long) > end {
				continue
			}
			sum = plus(sum, t.long)
			parts, attempts = append(parts, part{"granted", t.of.to.event}), append(attempts, t.of.Attempt)
			if plus(t.first, sum) > end {
				yield(k.violation(parts, attempts, less("latest end of all", end, "end of all, one after the other", plus(t.first, sum))))
				return
			}
		}
	}
}
