package certificate

import (
	"cmp"
	"slices"
	"time"

	"github.com/lockbench/lockbench/histories"
)

// inVain looks for a client that asked alone and in vain for longer than a lease and the slack. What
// excuses it is the time in which another wanted the key or had it, or in which half of the masters were
// at fault, or a client.
func (s *supply) inVain(yield func(finding)) {
	for i := 0; i < len(s.asked); {
		j := i
		for j < len(s.asked) && s.asked[j].Worker == s.asked[i].Worker && s.asked[j].to.event != pending && s.asked[j].outcome != histories.OK {
			j++
		}
		if i < j && s.asked[j-1].to.time-s.asked[i].from.time > s.patience() {
			s.inVainOf(s.asked[i:j], yield)
		}
		i = max(i+1, j)
	}
}

// inVainOf looks at calls of one client, none of which was granted, between the excuses.
func (s *supply) inVainOf(calls []*op, yield func(finding)) {
	all := between(calls[0].from.event, calls[len(calls)-1].to.event)
	excuses := s.excuses(calls[0].Worker, all)
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

// An excuse is a time in which a client may be refused.
type excuse struct {
	span
	fault bool // then a call counts again only if it began later
}

// excuses are those that a client has within a span, by their beginning.
func (s *supply) excuses(worker int, all span) []excuse {
	wanted := s.wanted()
	if s.want.all == nil {
		s.want = newSpans(len(s.asked), func(i int) span { return span{at(s.asked[i].from.event), wanted[i]} })
		s.ills = newSpans(len(s.faults), func(i int) span { return s.faults[i].span })
		s.ill = s.covers(func(f fault) span { return f.span })
		s.had = newSpans(len(s.taken), func(i int) span { return s.taken[i].span })
	}
	var excuses []excuse
	for i := range s.want.meeting(all) {
		if s.asked[i].Worker != worker {
			excuses = append(excuses, excuse{span{at(s.asked[i].from.event), wanted[i]}, false})
		}
	}
	for i := range s.had.meeting(all) {
		t := s.taken[i]
		if own := t.hold.Worker == worker && !t.hold.granted(); !own {
			excuses = append(excuses, excuse{t.span, false})
		}
	}
	var met []fault
	for i := range s.ills.meeting(all) {
		met = append(met, s.faults[i])
	}
	half := s.ill.majority(all, s.terms.Masters)
	for _, f := range met {
		if half || s.ofClient(f) || f.node == "" {
			excuses = append(excuses, excuse{f.span, true})
		}
	}
	slices.SortFunc(excuses, func(a, b excuse) int { return cmp.Compare(a.from, b.from) })
	return excuses
}

func (t *tables) timeOf(r rank) time.Duration {
	if r == 0 || int(r/2) >= len(t.times) {
		return 0
	}
	return t.times[r/2]
}

// covers are those of the faults of servers, by node.
type covers map[string]cover

func (s *supply) covers(of func(fault) span) covers {
	spans := make(map[string][]span)
	for _, f := range s.faults {
		if !s.ofClient(f) {
			spans[f.node] = append(spans[f.node], of(f))
		}
	}
	all := make(covers)
	for node, each := range spans {
		all[node] = newCover(each)
	}
	return all
}

// majority reports whether faults that meet a span touch so many masters that no majority is left.
func (c covers) majority(s span, masters int) bool {
	n := 0
	for node, each := range c {
		if each.meets(s) {
			if n++; node == "" || 2*n >= max(masters, 1) {
				return true
			}
		}
	}
	return false
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
	if len(refusals) < 2 {
		return
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

// touches reports whether a fault of clients is one of a worker.
func (t *tables) touches(f fault, worker int) bool {
	return f.node == "" || f.node[0] < 'A' || f.node[0] > 'Z' || f.node == histories.WorkerName(worker) || t.thread(f.node, worker)
}

// thread reports whether a name is that of another thread of a worker's process.
func (t *tables) thread(name string, worker int) bool {
	for i := range t.terms.Threads {
		if worker < t.terms.Threads && name == histories.WorkerName(i) {
			return true
		}
	}
	return false
}

// engaged are the spans in which somebody may have the key, or too many masters may be at fault, with what
// is left behind.
func (s *supply) engaged(ailing func(int) cover) (all []span) {
	left := func(f fault) span { // with what it leaves behind
		if f.to != never {
			f.to = s.after(f.over)
		}
		return f.span
	}
	ill := s.covers(left)
	for _, f := range s.faults {
		if x := left(f); !s.ofClient(f) && ill.majority(x, s.terms.Masters) {
			all = append(all, x)
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
	case h.to.event == pending && h.by != crash:
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
