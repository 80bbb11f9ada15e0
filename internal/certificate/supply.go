package certificate

import (
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

	until           []rank // of wanted, once it was asked for
	want, had, ills spans  // of asked, while somebody wants the key, of taken, and of faults
	ill             covers // of faults of servers
}

// A taking is the span in which some server may have a hold.
type taking struct {
	span
	hold *hold
}

func (k *table) supply() *supply {
	s := &supply{table: k, asked: make([]*op, 0, len(k.calls)), taken: make([]taking, 0, len(k.holds))}
	for _, o := range k.calls {
		if o.F == acquire && !o.invalid {
			s.asked, s.lease, s.shared = append(s.asked, o), max(s.lease, o.TTL), s.shared || o.Mode == withReaders
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
	if s.until != nil {
		return s.until
	}
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
	s.until = until
	return until
}

// alone says which of the calls found the key free during all of them, with nobody else wanting it; of
// all, or of those who are no readers.
func (s *supply) alone(wanted []rank, readers bool) []bool {
	free, next := make([]bool, len(s.asked)), make([]rank, len(s.asked)) // next: when somebody who is in the way calls
	latest := never
	for i, o := range slices.Backward(s.asked) {
		if next[i] = latest; !readers || o.Mode != withReaders {
			latest = at(o.from.event)
		}
	}
	var taken rank
	var want leaders[int, rank] // until when somebody wants it, by worker
	t := 0
	for i, o := range s.asked {
		call := s.calling(o)
		for ; t < len(s.taken) && s.taken[t].from < call.to; t++ {
			if !readers || s.taken[t].hold.Mode != withReaders {
				taken = max(taken, s.taken[t].to)
			}
		}
		free[i] = next[i] >= call.to && want.but(o.Worker) < call.from && taken < call.from && !s.sick.meets(call)
		if !readers || o.Mode != withReaders {
			want = want.with(o.Worker, wanted[i], int64(wanted[i]))
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
		if o.outcome == histories.Fail && (free[i] || o.Mode == withReaders && open[i]) {
			yield(s.violation([]part{{"asked", o.from.event}, {"refused", o.to.event}}, []uint64{o.Attempt}))
		}
	}
}

// stuck looks for the first release that had no answer until the lease was over while somebody waited.
func (s *supply) stuck(yield func(finding)) {
	var waits cover
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
		if waits == nil {
			waits = s.waits()
		}
		if !waits.meets(all) || s.any.meets(span{at(h.from.event), over}) {
			continue
		}
		i := slices.IndexFunc(s.asked, func(o *op) bool { return o.Worker != h.Worker && s.calling(o).meets(all) })
		if i >= 0 {
			yield(s.violation([]part{{"granted", h.to.event}, {"waiting", s.asked[i].from.event}, {"release", r.from.event}}, []uint64{h.Attempt, s.asked[i].Attempt},
				less("slack", s.terms.Slack, "rest of the lease", end-r.from.time)))
			return
		}
	}
}

// waits are the spans in which somebody asks for the key.
func (s *supply) waits() cover {
	calls := make([]span, len(s.asked))
	for i, o := range s.asked {
		calls[i] = s.calling(o)
	}
	return newCover(calls)
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
