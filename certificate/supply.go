package certificate

import (
	"cmp"
	"slices"
	"time"

	"github.com/lockbench/lockbench/histories"
)

// A supply is who may have had one key on its servers, and who asked for it.
type supply struct {
	*table
	asked  []*op    // acquires, but for those whose arguments were refused
	taken  []taking // in order of starts
	sick   cover    // faults, and what they leave behind
	lease  time.Duration
	shared bool
}

// A taking is the span in which some server may have a hold.
type taking struct {
	span
	hold *hold
}

func (k *table) supply() *supply {
	s := &supply{table: k}
	for _, o := range k.calls {
		if o.F == histories.Acquire && !o.invalid {
			s.asked, s.lease, s.shared = append(s.asked, o), max(s.lease, o.TTL), s.shared || o.Mode == histories.Shared
		}
	}
	for _, h := range k.holds {
		s.taken = append(s.taken, taking{span{at(h.from.event), k.mayRun(h)}, h})
		for _, x := range h.extends {
			s.lease = max(s.lease, x.TTL)
		}
	}
	return s
}

// after is when the longest lease and the slack have passed since a time.
func (s *supply) after(t time.Duration) rank { return s.gapOrNever(plus(t, s.patience())) }

func (s *supply) patience() time.Duration { return plus(s.lease, s.terms.Slack) }

func (t *tables) gapOrNever(when time.Duration) rank {
	if when == forever {
		return never
	}
	return t.gap(when)
}

// wanted is until when the client that made each call waits for the key: until it is granted, but no
// longer than a lease and the slack after it was refused.
func (s *supply) wanted() []rank {
	until := make([]rank, len(s.asked))
	granted := make(map[int]rank) // by worker, the next
	for i, o := range slices.Backward(s.asked) {
		call := s.calling(o)
		until[i] = call.to
		if o.outcome == histories.OK {
			granted[o.Worker] = call.to
			continue
		}
		if call.to != never && s.lease > 0 {
			until[i] = s.after(s.times[call.to/2])
		}
		if next, ok := granted[o.Worker]; ok {
			until[i] = max(call.to, min(until[i], next))
		}
	}
	return until
}

// alone says which of the calls found the key free during all of them, with nobody else wanting it; of
// all, or of those who are no readers.
func (s *supply) alone(wanted []rank, readers bool) []bool {
	free, next := make([]bool, len(s.asked)), make([]rank, len(s.asked)) // next: when somebody who is in the way calls
	latest := never
	for i, o := range slices.Backward(s.asked) {
		if next[i] = latest; !readers || o.Mode != histories.Shared {
			latest = at(o.from.event)
		}
	}
	var taken rank
	var want reach2 // until when somebody wants it, by worker
	t := 0
	for i, o := range s.asked {
		call := s.calling(o)
		for ; t < len(s.taken) && s.taken[t].from < call.to; t++ {
			if !readers || s.taken[t].hold.Mode != histories.Shared {
				taken = max(taken, s.taken[t].to)
			}
		}
		who := uint64(o.Worker) + 1 // 0 is nobody
		free[i] = next[i] >= call.to && want.of(who) < call.from && taken < call.from && !s.sick.meets(call)
		if !readers || o.Mode != histories.Shared {
			want = want.with(who, wanted[i])
		}
	}
	return free
}

// unavailable looks for refusals of a free key, for clients that ask for it in vain, for releases that
// were held up, and for calls that did not return.
func unavailable(t *tables, yield func(finding)) {
	if len(t.hung) > 0 {
		e := t.hung[0]
		yield(finding{certain: true, key: e.Key, events: []part{{"hung", e.Index}}})
		return
	}
	grants, asked, recovered := 0, false, false
	calm := t.calm()
	for _, k := range t.keys {
		s := k.supply()
		s.disturb()
		s.refusedFree(yield)
		if s.lease > 0 {
			s.inVain(yield)
			s.toAll(yield)
		}
		s.stuck(yield)
		for _, o := range s.asked {
			granted, later := o.outcome == histories.OK, calm > 0 && calm != never && at(o.from.event) >= calm
			grants += b2i(granted)
			asked, recovered = asked || later, recovered || granted && later
		}
	}
	if grants == 0 || asked && !recovered {
		yield(doubt("nobody was granted a lock, or not after the last fault"))
	}
}

// disturb notes the spans of faults and of what they leave behind.
func (s *supply) disturb() {
	var spans []span
	for _, f := range s.faults {
		to := never
		if f.to != never && s.lease > 0 {
			to = s.after(f.over)
		}
		spans = append(spans, span{f.from, to})
	}
	s.sick = newCover(spans)
}

func (s *supply) refusedFree(yield func(finding)) {
	wanted := s.wanted()
	free, open := s.alone(wanted, false), []bool(nil)
	if s.shared {
		open = s.alone(wanted, true)
	}
	for i, o := range s.asked {
		if o.outcome == histories.Fail && (free[i] || o.Mode == histories.Shared && open[i]) {
			yield(s.violation([]part{{"asked", o.from.event}, {"refused", o.to.event}}, []uint64{o.Attempt}))
		}
	}
}

// inVain looks for a client that asked alone and in vain for longer than a lease and the slack. What
// excuses it is the time in which another wanted the key or had it, or in which half of the masters were
// at fault, or a client.
func (s *supply) inVain(yield func(finding)) {
	wanted := s.wanted()
	for i := 0; i < len(s.asked); {
		j := i
		for j < len(s.asked) && s.asked[j].Worker == s.asked[i].Worker && s.asked[j].to.event != pending && s.asked[j].outcome != histories.OK {
			j++
		}
		s.inVainOf(s.asked[i:j], wanted, yield)
		i = max(i+1, j)
	}
}

// inVainOf looks at calls of one client, none of which was granted, between the excuses.
func (s *supply) inVainOf(calls []*op, wanted []rank, yield func(finding)) {
	if len(calls) == 0 || calls[len(calls)-1].to.time-calls[0].from.time <= s.patience() {
		return
	}
	type excuse struct {
		span
		fault bool
	}
	all := between(calls[0].from.event, calls[len(calls)-1].to.event)
	var excuses []excuse
	for i, o := range s.asked {
		if x := (span{at(o.from.event), wanted[i]}); o.Worker != calls[0].Worker && x.meets(all) {
			excuses = append(excuses, excuse{x, false})
		}
	}
	for _, t := range s.taken {
		if own := t.hold.Worker == calls[0].Worker && !t.hold.granted(); !own && t.meets(all) {
			excuses = append(excuses, excuse{t.span, false})
		}
	}
	for _, f := range s.faults {
		if f.meets(all) && (s.ofClient(f) || f.node == "" || s.majority(f.span, func(o fault) bool { return !s.ofClient(o) && o.meets(all) })) {
			excuses = append(excuses, excuse{f.span, true})
		}
	}
	slices.SortFunc(excuses, func(a, b excuse) int { return cmp.Compare(a.from, b.from) })
	from, over := rank(0), rank(0) // since when it asks alone, and a fault is over
	report := func(to rank) {
		var first, last *op
		for _, o := range calls {
			call := s.calling(o)
			if call.to < to && call.to > from && call.from > over {
				if first == nil {
					first = o
				}
				last = o
			}
		}
		if first == nil {
			return
		}
		began := max(first.from.time, s.timeOf(from))
		if took := last.to.time - began; took > s.patience() {
			yield(s.violation([]part{{"first", first.from.event}, {"last", last.to.event}}, []uint64{first.Attempt, last.Attempt},
				less("patience", s.patience(), "time for which it asked alone", took)))
		}
	}
	for _, x := range excuses {
		if x.from > from {
			report(x.from)
		}
		if from = max(from, x.to); x.fault {
			over = max(over, x.to)
		}
	}
	report(never)
}

func (t *tables) timeOf(r rank) time.Duration {
	if r == 0 || int(r/2) >= len(t.times) {
		return 0
	}
	return t.times[r/2]
}

// majority says whether so many masters are at fault, in some span, that no majority is left.
func (s *supply) majority(_ span, which func(fault) bool) bool {
	nodes := make(map[string]bool)
	for _, f := range s.faults {
		if which(f) {
			nodes[f.node] = true
		}
	}
	return nodes[""] || 2*len(nodes) >= max(s.terms.Masters, 1)
}

// toAll looks for refusals of a key, whoever got them, that went on for longer than a lease and the slack
// while nobody can have had it.
func (s *supply) toAll(yield func(finding)) {
	patience := s.patience()
	if s.terms.Masters > 1 || s.shared {
		patience = plus(patience, patience)
	}
	calm := s.calm()
	ailing := make(map[int]cover)
	of := func(worker int) cover {
		c, known := ailing[worker]
		if !known {
			c = s.covering(func(f fault) bool { return s.ofClient(f) && s.touches(f, worker) })
			ailing[worker] = c
		}
		return c
	}
	var refusals []*op
	for _, o := range s.asked {
		if o.wasRefused() && at(o.to.event) <= calm && !of(o.Worker).meets(between(o.from.event, o.to.event)) {
			refusals = append(refusals, o)
		}
	}
	for _, w := range windows(s.engaged(of), 0) {
		var first, last *op
		n := 0
		for ; len(refusals) > 0 && at(refusals[0].from.event) < w.to; refusals = refusals[1:] {
			o := refusals[0]
			if at(o.from.event) < w.from || at(o.to.event) > w.to {
				continue
			}
			if n++; n == 1 {
				first = o
			}
			last = o
		}
		if n > 1 && last.from.time-first.from.time > patience {
			yield(s.violation([]part{{"first", first.from.event}, {"last", last.to.event}}, []uint64{first.Attempt, last.Attempt},
				less("patience", patience, "time for which it was refused", last.from.time-first.from.time)))
		}
	}
}

// touches says whether a fault of clients is one of a worker.
func (t *tables) touches(f fault, worker int) bool {
	return f.node == "" || f.node[0] < 'A' || f.node[0] > 'Z' || f.node == histories.WorkerName(worker)
}

// engaged are the spans in which somebody may have the key, or too many masters may be at fault, with what
// is left behind.
func (s *supply) engaged(ailing func(int) cover) (all []span) {
	type sick struct {
		span
		node string
	}
	var ill []sick
	for _, f := range s.faults {
		if !s.ofClient(f) {
			to := never
			if f.to != never {
				to = s.after(f.over)
			}
			ill = append(ill, sick{span{f.from, to}, f.node})
		}
	}
	for _, x := range ill {
		nodes := make(map[string]bool)
		for _, y := range ill {
			if x.meets(y.span) {
				nodes[y.node] = true
			}
		}
		if nodes[""] || 2*len(nodes) >= max(s.terms.Masters, 1) {
			all = append(all, x.span)
		}
	}
	for _, t := range s.taken {
		all = append(all, span{t.from, max(s.gone(t), s.late(t.hold, ailing))})
	}
	slices.SortFunc(all, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	return all
}

// gone is when nothing of a hold can be left on a server, if nothing came late.
func (s *supply) gone(t taking) rank {
	h := t.hold
	switch {
	case h.granted() || h.accepted() != nil:
		return t.to
	case h.to.event == pending && h.by != histories.Crash:
		return never
	}
	return s.after(max(h.to.time, h.end.time))
}

// late is when nothing can be left of what faults of its client may have kept from a server.
func (s *supply) late(h *hold, ailing func(int) cover) rank {
	last := -1
	for _, e := range []int{h.to.event, h.end.event} {
		if e != pending {
			last = max(last, e)
		}
	}
	for _, r := range h.releases {
		if r.to.event != pending {
			last = max(last, r.to.event)
		}
	}
	end := ailing(h.Worker).latest(span{at(h.from.event), at(max(last+1, 0))})
	if end == 0 || end == never {
		return end
	}
	return s.after(s.timeOf(end))
}

// stuck looks for releases that had no answer until the lease was over while somebody waited.
func (s *supply) stuck(yield func(finding)) {
	calls := make([]span, len(s.asked))
	for i, o := range s.asked {
		calls[i] = s.calling(o)
	}
	waits := newCover(calls)
	for _, t := range s.taken {
		h := t.hold
		if !h.granted() || h.TTL <= 0 || len(h.releases) == 0 {
			continue
		}
		r := h.releases[0]
		end := h.until(r.from)
		if end-r.from.time <= s.terms.Slack || r.to.event != pending && r.to.time < end || s.times[len(s.times)-1] < end {
			continue
		}
		over := s.gap(end)
		all := span{over, at(r.from.event)} // a call that meets it is under way all that time
		if !waits.meets(all) || s.any.meets(span{at(h.from.event), over}) {
			continue
		}
		i := slices.IndexFunc(s.asked, func(o *op) bool { return o.Worker != h.Worker && s.calling(o).meets(all) })
		if i >= 0 {
			yield(s.violation([]part{{"granted", h.to.event}, {"waiting", s.asked[i].from.event}, {"release", r.from.event}}, []uint64{h.Attempt, s.asked[i].Attempt},
				less("slack", s.terms.Slack, "rest of the lease", end-r.from.time)))
		}
	}
}

// windows are the spans from a rank on that no other covers. Those are in order of starts.
func windows(busy []span, from rank) (all []span) {
	for _, s := range busy {
		if s.from > from {
			all = append(all, span{from, s.from})
		}
		from = max(from, s.to)
	}
	if from != never {
		all = append(all, span{from, never})
	}
	return all
}
