package certificate

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/lockbench/lockbench/histories"
)

// writes reports whether an operation makes a version of a register.
func writes(f kind) bool { return f == write || f == draw }

// left is the version that an accepted access left behind.
func left(o *op) int64 { return o.version + int64(b2i(writes(o.F))) }

// accesses are the calls on the register of a key, in order of invocations; none of a counter.
func (k *table) accesses() (all []*op) {
	for _, o := range k.calls {
		if !k.counter && (o.F == read || writes(o.F)) {
			all = append(all, o)
		}
	}
	return all
}

// overwritten looks for accesses that found or replaced a version that their attempt had not seen, and for
// writes that were accepted with a stale token.
func overwritten(k *table, yield func(finding)) {
	type view struct {
		source  *op // that told the version which the attempt knows
		unknown int // own writes of unknown outcome so far
	}
	accesses := k.accesses()
	producer := make(map[int64]*op) // of a version
	for _, o := range accesses {
		if writes(o.F) && o.outcome == histories.OK {
			producer[left(o)] = o
		}
	}
	views := make(map[uint64]*view)
	for _, o := range accesses {
		v := views[o.Attempt]
		if v == nil {
			v = new(view)
			views[o.Attempt] = v
		}
		switch {
		case o.outcome == histories.Info && writes(o.F):
			v.unknown++
			continue
		case o.outcome != histories.OK:
			continue
		case v.source != nil && o.version > left(v.source):
			// As many versions as the attempt has writes of unknown outcome may be its own.
			own := 0
			var other *op
			for version := left(v.source) + 1; version <= o.version && other == nil && own <= v.unknown; version++ {
				if other = producer[version]; other == nil {
					own++
				}
			}
			switch {
			case other != nil:
				yield(k.violation([]part{{"seen", v.source.to.event}, {"other", other.to.event}, {"access", o.to.event}}, []uint64{o.Attempt, other.Attempt},
					less("version that was known", left(v.source), "version of the other's write", left(other)),
					most("version of the other's write", left(other), "version that was found", o.version)))
			case own > v.unknown:
				yield(k.violation([]part{{"seen", v.source.to.event}, {"access", o.to.event}}, []uint64{o.Attempt},
					less("writes of its own of unknown outcome", int64(v.unknown), "versions since", o.version-left(v.source))))
			default:
				v.unknown -= own
			}
		case v.source != nil && o.version < left(v.source):
			yield(doubt("a register went back"))
		}
		if v.source != nil || o.F == read {
			v.source = o
		}
	}
	k.stale(yield)
}

// stale looks for writes of a register that were accepted with a lower token than an access before them
// had shown, in the order of versions.
func (k *table) stale(yield func(finding)) {
	carried := slices.DeleteFunc(k.accesses(), func(o *op) bool { return o.outcome != histories.OK || o.token <= 0 })
	slices.SortStableFunc(carried, func(a, b *op) int { return cmp.Or(cmp.Compare(a.version, b.version), cmp.Compare(left(a), left(b))) })
	var shown *op
	for _, o := range carried {
		if shown != nil && writes(o.F) && o.token < shown.token {
			yield(k.violation([]part{{"shown", shown.to.event}, {"write", o.to.event}}, []uint64{shown.Attempt, o.Attempt},
				less("token of the write", o.token, "token that was shown", shown.token),
				most("version that was left", left(shown), "version that was replaced", o.version)))
		}
		if shown == nil || o.token > shown.token {
			shown = o
		}
	}
}

// unordered looks for tokens that do not rise with the grants of a key, and for accesses with stale ones.
func unordered(t *tables, yield func(finding)) {
	ordered := 0
	for _, k := range t.keys {
		ordered += k.falling(yield)
		k.stale(yield)
		if k.counter {
			k.staleCounts(yield)
		}
	}
	if ordered == 0 {
		yield(doubt("no two acquires with tokens came one after the other"))
	}
}

// falling looks for tokens of a key that do not rise, and returns how many grants with one came after
// another.
func (k *table) falling(yield func(finding)) (ordered int) {
	stay := k.stays()
	var issued []*hold
	for _, h := range k.holds {
		if h.granted() && h.issued != 0 {
			issued = append(issued, h)
		}
	}
	returned := slices.DeleteFunc(slices.Clone(k.granted), func(h *hold) bool { return h.issued == 0 })
	falls := func(a, b *hold) {
		yield(k.violation([]part{{"first", a.to.event}, {"second", b.to.event}}, []uint64{a.Attempt, b.Attempt},
			most("token of the second", b.issued, "token of the first", a.issued)))
	}
	same := make(map[int64]*hold)
	var top leaders[party, *hold]
	i := 0
	for _, h := range issued {
		for ; i < len(returned) && returned[i].to.event < h.from.event; i++ {
			top = top.with(stay[returned[i]], returned[i], returned[i].issued)
		}
		ordered += b2i(top.first != nil)
		twin, rival := same[h.issued], top.but(stay[h])
		switch {
		case top.first != nil && top.first.issued > h.issued:
			falls(top.first, h)
		case rival != nil && rival.issued >= h.issued:
			falls(rival, h)
		case twin != nil && stay[twin] != stay[h]:
			falls(twin, h)
		}
		if twin == nil {
			same[h.issued] = h
		}
	}
	for i, h := range returned {
		for _, before := range slices.Backward(returned[:i]) {
			if before.to.event < h.from.event {
				break
			}
			if before.shares(h) || before.issued == h.issued || k.server.meets(between(min(before.from.event, h.from.event), h.to.event)) {
				continue
			}
			first, second := before, h
			if first.issued < second.issued {
				first, second = h, before
			}
			if k.firstOf(first, second) && !k.clashes(first) && !k.clashes(second) {
				falls(first, second)
				break
			}
		}
	}
	return ordered
}

// firstOf reports whether of two holds whose acquires overlap a must have been granted before b: a cannot have been granted when b was over,
// and b can when a was.
func (k *table) firstOf(a, b *hold) bool {
	if a.follows(b) || !b.follows(a) || b.common != nil || b.spent <= a.to.event || k.touched(b, max(a.to.event, b.to.event), a.Attempt) {
		return false
	}
	return b.to.event > a.to.event || !k.wasDenied(b, a.to.event)
}

// stays are the parties of the holds of a key, as long as each has anything: a client that enters again when
// it has given back all that it had begins another.
func (k *table) stays() map[*hold]party {
	type visit struct {
		n     uint64
		until int // when the last of its holds was given back
	}
	of := make(map[*hold]party, len(k.holds))
	visits := make(map[int]*visit) // by worker
	for _, h := range k.holds {
		of[h] = h.party()
		if h.Mode != withItself {
			continue
		}
		v := visits[h.Worker]
		if v == nil {
			v = new(visit)
			visits[h.Worker] = v
		}
		if v.until < h.from.event {
			v.n, v.until = v.n+1, 0
		}
		v.until = max(v.until, h.givenBack())
		of[h] = party{h.Mode, h.Worker, v.n}
	}
	return of
}

// counts are the accepted accesses of a counter, with what each found before it counted itself, in order
// of invocations and of answers.
func (k *table) counts() (asked, answered []*op, found map[*op]int64, broken bool) {
	found = make(map[*op]int64)
	for _, o := range k.calls {
		if (o.F != incr && o.F != read) || o.outcome != histories.OK {
			continue
		}
		n, err := strconv.ParseInt(k.texts[o.text], 10, 64)
		broken = broken || err != nil
		found[o] = n - int64(b2i(o.F == incr))
		asked = append(asked, o)
	}
	return asked, inOrderOfAnswers(asked), found, broken
}

// miscounted looks for increments that brought a counter to one number, and for accesses that found less
// than had been counted.
func miscounted(k *table, yield func(finding)) {
	if !k.counter {
		return
	}
	asked, answered, found, broken := k.counts()
	if broken {
		yield(doubt("a counter shows no number"))
		return
	}
	last, seen, n := 0, false, 0
	by := make(map[int64]*op)
	for _, o := range asked {
		if o.F != incr {
			continue
		}
		if first := by[found[o]]; first != nil {
			yield(k.violation([]part{{"first", first.to.event}, {"second", o.to.event}}, []uint64{first.Attempt, o.Attempt},
				Bound{"number of the first", found[first], "=", "number of the second", found[o]}))
		} else {
			by[found[o]] = o
		}
		last = max(last, o.to.event)
	}
	var top *op
	i := 0
	for _, o := range asked {
		for ; i < len(answered) && answered[i].to.event < o.from.event; i++ {
			if a := answered[i]; a.F == incr {
				if n++; top == nil || found[a] > found[top] {
					top = a
				}
			}
		}
		seen = seen || o.from.event > last || o.F == incr && o.to.event == last && !slices.ContainsFunc(answered[i:], func(a *op) bool {
			return a.F == incr && a != o
		})
		if top == nil {
			continue
		}
		switch reached := found[top] + 1; {
		case found[o] < reached:
			yield(k.violation([]part{{"peak", top.to.event}, {"look", o.to.event}}, []uint64{top.Attempt, o.Attempt},
				less("number that was found", found[o], "number that was reached", reached)))
		case found[o] < int64(n):
			yield(doubt("a counter shows less than was counted"))
		}
	}
	if !seen && len(by) > 0 {
		yield(doubt("nobody looked after the last increment"))
	}
}

// staleCounts looks for increments with a lower token than that of an access that had returned before.
func (k *table) staleCounts(yield func(finding)) {
	asked, answered, _, _ := k.counts()
	var shown *op
	i := 0
	for _, o := range asked {
		for ; i < len(answered) && answered[i].to.event < o.from.event; i++ {
			if a := answered[i]; a.token > 0 && (shown == nil || a.token > shown.token) {
				shown = a
			}
		}
		if shown != nil && o.F == incr && o.token > 0 && o.token < shown.token {
			yield(k.violation([]part{{"shown", shown.to.event}, {"write", o.to.event}}, []uint64{shown.Attempt, o.Attempt},
				less("token of the write", o.token, "token that was shown", shown.token)))
		}
	}
}

// drawnTwice looks for rounds of a lottery that two won.
func drawnTwice(k *table, yield func(finding)) {
	won := make(map[string]*op)
	for _, o := range k.calls {
		switch first := won[k.texts[o.text]]; {
		case o.F != draw || o.outcome != histories.OK:
		case first == nil:
			won[k.texts[o.text]] = o
		default:
			yield(k.violation([]part{{"first", first.to.event}, {"second", o.to.event}}, []uint64{first.Attempt, o.Attempt}))
		}
	}
}
