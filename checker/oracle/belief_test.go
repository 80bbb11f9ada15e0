package oracle

import (
	"cmp"
	"slices"

	"github.com/lockbench/lockbench/histories"
)

// belief plays what holders believe: nobody is granted the lock while another believes that it
// has it. A belief begins with the grant and ends when the first release of the attempt is
// invoked, at a crash of its client, or, by the reading of leases, at the deadline that was last
// told. The lock is taken at its word: of an attempt of unknown outcome, an accepted extend says
// that it had the lock then, and an accepted release that it had it until then.
//
// Whom an extend tells a new deadline after the old one believes again; that is left open. So it is
// when a grant of unknown outcome had begun that is shown by an extend alone, with a deadline that had passed.
func (s *search) belief(ends []tick) func(s *search, st *state, a, at int, next []state) []state {
	return func(s *search, st *state, a, at int, next []state) []state {
		act := &s.acts[a]
		switch {
		case act.again:
			return next
		case act.f == histories.Acquire && act.outcome != histories.Fail:
			n := *st
			for i := n.held - 1; i >= 0; i-- {
				h := n.holds[i]
				if h.shares(act) {
					continue
				}
				if ends[h.of] >= forever || !n.after(at, 0, ends[h.of]) {
					return next
				}
				n.drop(i)
			}
			n.hold(hold{of: int8(a), who: int8(act.who), mode: act.mode})
			return append(next, n)
		case act.of >= 0 && act.known && act.outcome == histories.OK && s.acts[act.of].surfaced:
			return s.shown(st, act, next)
		}
		return append(next, *st)
	}
}

// shown adds the state in which an accepted release or extend finds its attempt holding. If the
// belief has ended before, it shows nothing.
func (s *search) shown(st *state, act *act, next []state) []state {
	i := slices.IndexFunc(st.holds[:st.held], func(h hold) bool { return int(h.of) == act.of })
	n := *st
	if act.f == histories.Release && i >= 0 {
		n.drop(i)
	}
	return append(next, n)
}

// late says that an accepted call shows a hold after its belief had ended, which is left open.
func (s *search) late(ends []tick) bool {
	return slices.ContainsFunc(s.acts, func(a act) bool {
		return a.of >= 0 && a.known && a.outcome == histories.OK && s.acts[a.of].surfaced && a.ret > ends[a.of]
	})
}

// ends is for each acquire when its belief ends. The second result is false if one that has
// ended begins again.
func (s *search) ends(h history, leases bool) ([]tick, bool) {
	ends := make([]tick, len(s.acts))
	for i := range s.acts {
		a := &s.acts[i]
		ends[i] = a.first
		if a.surfaced && !s.extended(i) {
			ends[i] = forever // it has the lock until the release that shows it
		}
		for _, c := range h {
			if c.f == histories.Crash && c.who == a.who && ticks(c.inv) >= a.inv {
				ends[i] = min(ends[i], ticks(c.inv))
			}
		}
		if leases && a.f == histories.Acquire {
			deadline, steady := s.deadline(i)
			if !steady {
				return nil, false
			}
			ends[i] = min(ends[i], deadline)
		}
	}
	return ends, true
}

// extended says that an accepted extend shows that an acquire of unknown outcome was granted.
func (s *search) extended(of int) bool {
	return slices.ContainsFunc(s.acts, func(b act) bool {
		return b.of == of && b.f == histories.Extend && b.known && b.outcome == histories.OK
	})
}

// deadline is when an acquire's belief ends by the deadlines that were told, and false if that is
// left open.
func (s *search) deadline(of int) (tick, bool) {
	told := func(a *act) tick {
		if a.told == 0 {
			return forever
		}
		return ticks(a.told)
	}
	var extends []*act
	for i := range s.acts {
		if a := &s.acts[i]; a.of == of && a.f == histories.Extend && a.known && a.outcome == histories.OK {
			extends = append(extends, a)
		}
	}
	slices.SortFunc(extends, func(a, b *act) int { return cmp.Compare(a.ret, b.ret) })
	end := forever
	if s.acts[of].outcome == histories.OK {
		end = told(&s.acts[of])
	}
	for i, e := range extends {
		switch shows := i == 0 && s.acts[of].outcome != histories.OK; {
		case e.ret >= end && told(e) > e.ret, shows && told(e) <= e.ret:
			return 0, false
		case e.ret < end:
			end = max(e.ret, told(e))
		}
	}
	return end, true
}
