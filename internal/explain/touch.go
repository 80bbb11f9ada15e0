package explain

import "github.com/lockbench/lockbench/histories"

// own is the place of the key that a's release or extend is about, or nobody. Whether a client who was refused
// may use what it has from another acquire is left open.
func (s *search) own(st *state, a int) int {
	act := &s.acts[a]
	if act.mode == reentrant {
		if !s.wide && act.of != nobody && s.acts[act.of].Outcome == histories.Fail {
			return nobody
		}
		return st.client(act.Worker)
	}
	for i := range st.held {
		if int(st.keys[i].of) == act.of {
			return i
		}
	}
	return nobody
}

// reach adds the states in which a release or an extend is answered or, of unknown outcome, has its effect.
func (s *search) reach(st *state, a int, next []state) []state {
	act := &s.acts[a]
	if own := s.own(st, a); own != nobody {
		if n := *st; s.runs(&n, st.keys[own], a) {
			next = s.touch(&n, a, own, next)
		}
		n := *st
		if !s.ran(&n, st.keys[own], a) {
			return next
		}
		n.lapse(own)
		st = &n
	}
	switch {
	case act.Outcome == histories.Fail:
		next = append(next, *st)
	case act.sure && act.Outcome == histories.OK:
		next = s.idle(st, a, next)
	}
	return s.strike(st, a, next)
}

// touch adds the states in which a's client has the lock.
func (s *search) touch(st *state, a, own int, next []state) []state {
	act := &s.acts[a]
	did := *st
	if act.F == histories.Extend {
		did.keys[own].since, did.keys[own].lease = int8(a), act.lease
	} else if did.keys[own].count--; did.keys[own].count == 0 {
		did.remove(own)
	}
	if act.Outcome == histories.Fail {
		lied, liedAndDid := wrong(st, truth), wrong(&did, truth)
		lied.wrongs++
		liedAndDid.wrongs++
		return append(next, lied, liedAndDid)
	}
	next = append(next, did)
	if act.mode == shared {
		next = s.alone(&did, a, next)
	}
	if act.F == histories.Release && act.mode == reentrant && s.wide {
		next = s.miscount(st, own, 1, next)
		n := wrong(st, reentry)
		next = append(next, n)
		n.remove(own)
		next = append(next, n)
	}
	return next
}

// alone adds the state in which what a reader does to its own hold ends those of others.
func (s *search) alone(st *state, a int, next []state) []state {
	n := wrong(st, ownership)
	for i := n.held - 1; i >= 0; i-- {
		if int(n.keys[i].of) != s.acts[a].of {
			n.remove(i)
		}
	}
	if n.held == st.held {
		return next
	}
	return append(next, n)
}

// idle adds the states in which a says "done" of what it has not. If its lease has ended, and nothing else, that is
// left open as long as nobody else has the lock; an extend may bring it back then.
func (s *search) idle(st *state, a int, next []state) []state {
	act := &s.acts[a]
	next = append(next, wrong(st, truth))
	if !s.wide || act.of == nobody || !s.lapsed(st, act) {
		return next
	}
	n := *st
	for i := n.held - 1; i >= 0; i-- {
		if act.mode == shared && n.keys[i].mode == shared {
			continue
		}
		if !s.ran(&n, n.keys[i], a) {
			return next
		}
		n.lapse(i)
	}
	next = append(next, n)
	if act.F == histories.Extend {
		n.add(key{of: int8(act.of), since: int8(a), count: 1, worker: act.Worker, mode: act.mode, lease: act.lease})
		next = append(next, n)
	}
	return next
}

// lapsed reports whether a lease of the attempt, or of its client if that re-enters, was over.
func (s *search) lapsed(st *state, act *act) bool {
	if act.mode != reentrant {
		return st.lapsed&(1<<act.of) != 0
	}
	for i := range s.acts {
		if s.acts[i].Worker == act.Worker && st.lapsed&(1<<i) != 0 {
			return true
		}
	}
	return false
}

// strike adds the states in which a reaches what is another's. That it says so is one wrong, and tells the
// untruth; that it says nothing is two, and that it says otherwise three.
func (s *search) strike(st *state, a int, next []state) []state {
	act := &s.acts[a]
	var breaks uint8
	var more int8
	switch act.Outcome {
	case histories.OK:
		breaks = truth
	case histories.Info:
		more = 1
	case histories.Fail:
		more = 2
	}
	for i := range st.held {
		n := *st
		if !s.runs(&n, st.keys[i], a) {
			continue
		}
		if act.F == histories.Extend {
			next = s.stretch(&n, a, i, breaks, more, next)
		}
		n = wrong(&n, breaks|ownership)
		n.wrongs += more
		if n.keys[i].count > 1 && act.F == histories.Release { // one of several entries
			n.keys[i].count--
			next = append(next, n)
		}
		n.remove(i)
		next = append(next, n)
		if n.held > 0 { // all of them
			n.held = 0
			next = append(next, n)
		}
	}
	return next
}

// stretch adds the states in which an extend gives another's key its own lease. To end it earlier is to end it.
func (s *search) stretch(st *state, a, i int, breaks uint8, more int8, next []state) []state {
	k, lease := st.keys[i], s.acts[a].lease
	if n := wrong(st, breaks); s.longer(&n, k, a, lease) {
		n.keys[i].since, n.keys[i].lease = int8(a), lease
		next = append(next, n)
	}
	if n := wrong(st, breaks|ownership); lease < forever && s.shorter(&n, k, a, lease) {
		n.wrongs += more
		n.keys[i].since, n.keys[i].lease = int8(a), lease
		next = append(next, n)
	}
	return next
}
