package explain

import "github.com/lockbench/lockbench/histories"

// owing prepares the acts for what is owed. The lock is taken at its word: an acquire of unknown outcome
// that emerged was granted before what shows it, and one that did not is owed nothing. A client's re-entry is given back
// at any time from when that was asked for on, whatever the answer.
func (s *search) owing() {
	for i := range s.acts {
		a := &s.acts[i]
		if a.of == nobody || a.of == i || !a.shows() || !s.acts[a.of].emerged {
			continue
		}
		acquire := &s.acts[a.of]
		if acquire.known == 0 || a.known < acquire.known {
			acquire.known = a.known
		}
		if !acquire.sure { // what is unknown has no latest instant, whenever it was given up
			acquire.sure, acquire.by = true, a.by
		}
		acquire.by = min(acquire.by, a.by)
		a.after |= 1 << a.of
	}
	for i := range s.acts {
		a := &s.acts[i]
		switch {
		case a.F == histories.Acquire && a.mode != reentrant && !a.sure:
			a.after |= 1 << i // it has no place
		case a.F == histories.Release && a.mode == reentrant && a.Outcome == histories.Fail:
			a.sure = false
		}
	}
}

// owe has an act change what is owed. A lock owes it to whom it was granted until its lease is over, which an
// accepted extend begins anew, or its release was asked for; what a server does with its key otherwise is no excuse.
func (s *search) owe(st *state, a int, next []state) []state {
	switch act := &s.acts[a]; {
	case act.echo:
		return next
	case act.F == histories.Acquire && act.Outcome != histories.Fail:
		return s.admit(st, a, 0, next)
	case act.F == histories.Extend && act.Outcome != histories.Fail:
		return s.prolong(st, a, next)
	case act.F == histories.Release && act.mode == reentrant:
		return s.giveBack(st, a, next)
	}
	return append(next, *st)
}

// admit adds the states in which a is granted the lock, and it is owed to nobody else.
func (s *search) admit(st *state, a, i int, next []state) []state {
	act := &s.acts[a]
	for i < st.held && st.keys[i].shares(act) {
		i++
	}
	if i < st.held {
		k := st.keys[i]
		if n := *st; s.ran(&n, k, a) {
			n.lapse(i)
			next = s.admit(&n, a, i, next)
		}
		if n := *st; k.mode != reentrant && s.returned(&n, a, int(k.of)) {
			n.remove(i)
			next = s.admit(&n, a, i, next)
		}
		return next
	}
	fresh := key{of: int8(act.of), since: int8(a), count: 1, worker: act.Worker, mode: act.mode, lease: act.lease}
	own := nobody
	if act.mode == reentrant {
		own = st.client(act.Worker)
	}
	if own == nobody {
		n := *st
		n.add(fresh)
		return append(next, n)
	}
	if n := *st; s.ran(&n, st.keys[own], a) {
		n.lapsed |= 1 << n.keys[own].of
		n.keys[own] = fresh
		next = append(next, n)
	}
	n := *st
	if !s.runs(&n, st.keys[own], a) {
		return next
	}
	n.keys[own].count++
	return s.renew(&n, a, own, next)
}

// returned reports whether a came when the release of an acquire had been asked for, and whether that can be. Whether one that
// was refused ends what is owed is left open.
func (s *search) returned(st *state, a, of int) bool {
	back := s.acts[of].gone
	if s.wide {
		back = s.acts[of].back
	}
	if known := s.acts[a].known; back.Event == 0 || known > 0 && known < back.Event {
		return false
	}
	return s.until(&st.instants, a, back.Time)
}

// prolong adds the states after an extend that was accepted, or had its effect. One that was accepted when the
// lease was over is left open.
func (s *search) prolong(st *state, a int, next []state) []state {
	act := &s.acts[a]
	own := s.own(st, a)
	switch {
	case own == nobody && !act.sure:
		return next
	case own == nobody && s.wide:
		return append(next, *st)
	case own == nobody:
		return s.admit(st, a, 0, next)
	}
	n := *st
	if !act.sure && !s.runs(&n, st.keys[own], a) {
		return next
	}
	n.keys[own].since, n.keys[own].lease = int8(a), act.lease
	next = append(next, n)
	if n := *st; act.sure && s.wide && s.ran(&n, st.keys[own], a) {
		next = append(next, n)
	}
	return next
}

// giveBack adds the states after a release of a client that re-enters.
func (s *search) giveBack(st *state, a int, next []state) []state {
	act := &s.acts[a]
	own := s.own(st, a)
	refused := act.Outcome == histories.Fail
	if own != nobody && (!refused || s.wide) {
		n := *st
		if n.keys[own].count--; n.keys[own].count == 0 {
			n.remove(own)
		}
		next = append(next, n)
	}
	granted := act.of != nobody && s.acts[act.of].Outcome == histories.OK
	if own == nobody && granted || refused || s.wide {
		next = append(next, *st)
	}
	return next
}
