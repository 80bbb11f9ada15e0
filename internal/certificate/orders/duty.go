package orders

import (
	"time"

	"github.com/lockbench/lockbench/histories"
)

// duty plays what a lock owes: it is granted to nobody while it is owed to another.
//
// It owes the lock to whom it was granted, until its lease is over or its first release was
// invoked. A lease runs from the instant of the grant, and from that of an accepted extend anew.
// What the server does with its key otherwise, and what it answers to a release, is no excuse.
// The lock is taken at its word: of an attempt of unknown outcome, an accepted release or extend
// says that it was granted. A re-entrant client is owed the lock as often as it acquired it
// less its releases, with one lease for all of them.
//
// Open are, and free to the wide reading: that a refused release ends what is owed; that
// a re-entry shortens the lease; and an extend that was accepted when the lease was over.
func (s *search) duty(st *state, a, at int, next []state) []state {
	act := &s.acts[a]
	switch {
	case act.again:
		return next
	case act.f == histories.Acquire && act.outcome == histories.Fail, act.f == histories.Count:
		return append(next, *st)
	case act.f == histories.Acquire:
		return s.owe(st, a, at, 0, next)
	case act.f == histories.Extend && act.outcome == histories.Fail:
		return append(next, *st)
	case act.f == histories.Extend:
		return s.owedLonger(st, a, at, next)
	case act.f == histories.Release:
		return s.givenBack(st, a, next)
	}
	return next
}

// owe adds the states in which a is granted the lock and it is owed to nobody else.
func (s *search) owe(st *state, a, at, i int, next []state) []state {
	act := &s.acts[a]
	for ; i < st.held && st.holds[i].shares(act); i++ {
	}
	if i < st.held {
		h := st.holds[i]
		if n := *st; n.over(h, at, s.rules) {
			n.lapsed |= 1 << h.of
			n.drop(i)
			next = s.owe(&n, a, at, i, next)
		}
		back := s.returned(int(h.of))
		if n := *st; h.mode != reentrant && back.Event < act.to && n.after(at, 0, back.Time) {
			n.drop(i)
			next = s.owe(&n, a, at, i, next)
		}
		return next
	}
	fresh := hold{of: int8(act.of), who: int8(act.who), mode: act.mode, since: int8(at), lease: act.lease, count: 1}
	own := -1
	if act.mode == reentrant {
		own = st.party(act.who)
	}
	n := *st
	if own < 0 {
		n.hold(fresh)
		return append(next, n)
	}
	return s.owedAgain(&n, fresh, own, at, next)
}

// owedAgain adds the states in which a re-entrant client is granted what it was owed already.
func (s *search) owedAgain(st *state, fresh hold, own, at int, next []state) []state {
	old := st.holds[own]
	if n := *st; n.over(old, at, s.rules) {
		n.lapsed |= 1 << old.of
		n.holds[own] = fresh
		next = append(next, n)
	}
	entered := *st
	if !entered.runs(old, at, s.rules) {
		return next
	}
	entered.holds[own].count++
	return s.longest(&entered, own, at, fresh.lease, next)
}

// longest adds the states after a re-entry: the longer one of two leases runs. To the wide
// reading it may be the other one.
func (s *search) longest(st *state, own, at int, lease time.Duration, next []state) []state {
	old := st.holds[own]
	if n := *st; s.rules.wide || old.lease >= forever || lease < forever && n.within(at, int(old.since), old.lease-lease) {
		next = append(next, n)
	}
	if n := *st; s.rules.wide || lease >= forever || old.lease < forever && n.after(at, int(old.since), old.lease-lease) {
		n.holds[own].since, n.holds[own].lease = int8(at), lease
		next = append(next, n)
	}
	return next
}

// returned is when the first release of an acquire was invoked that ends what is owed.
func (s *search) returned(of int) Moment {
	if s.rules.wide {
		return s.acts[of].first
	}
	first := Moment{Pending, forever}
	for i := range s.acts {
		if a := &s.acts[i]; a.f == histories.Release && a.of == of && a.outcome != histories.Fail && a.from < first.Event {
			first = Moment{a.from, a.inv}
		}
	}
	return first
}

// owedLonger adds the states after an extend that was accepted, or took effect.
func (s *search) owedLonger(st *state, a, at int, next []state) []state {
	act := &s.acts[a]
	own := s.own(st, a)
	if own < 0 {
		if !act.known {
			return next
		}
		if s.rules.wide {
			return append(next, *st)
		}
		return s.owe(st, a, at, 0, next)
	}
	n := *st
	if !act.known && !n.runs(n.holds[own], at, s.rules) {
		return next
	}
	n.holds[own].since, n.holds[own].lease = int8(at), act.lease
	next = append(next, n)
	if late := *st; act.known && s.rules.wide && late.over(late.holds[own], at, s.rules) {
		next = append(next, late)
	}
	return next
}

// givenBack adds the states after a release. But for a re-entrant client's, owe looks at when it
// was invoked.
func (s *search) givenBack(st *state, a int, next []state) []state {
	act := &s.acts[a]
	if act.mode != reentrant {
		return append(next, *st)
	}
	own := s.own(st, a)
	if own >= 0 && (act.outcome != histories.Fail || s.rules.wide) {
		n := *st
		if n.holds[own].count--; n.holds[own].count == 0 {
			n.drop(own)
		}
		next = append(next, n)
	}
	granted := act.of >= 0 && s.acts[act.of].outcome == histories.OK
	if own < 0 && granted || act.outcome == histories.Fail || s.rules.wide {
		next = append(next, *st)
	}
	return next
}

// owing returns the search of duty: releases of exclusive locks and readers are instants that
// are known, and a re-entrant client's release takes effect at any time from its invocation on.
func (s *search) owing() *search {
	t := s.surfacing()
	for i := range t.acts {
		a := &t.acts[i]
		if a.f == histories.Acquire && a.mode != reentrant && !a.known {
			a.before |= 1 << i // what nobody shows to have been granted is owed to nobody
		}
		if a.f == histories.Release && a.mode == reentrant && a.outcome == histories.Fail {
			a.known = false
		}
	}
	t.require()
	return t
}
