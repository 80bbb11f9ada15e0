package orders

import "github.com/lockbench/lockbench/histories"

// touched adds the states in which a release or an extend was answered, or of unknown outcome
// and took effect.
func (s *search) touched(st *state, a, at int, next []state) []state {
	act := &s.acts[a]
	own := s.own(st, a)
	if own >= 0 {
		if n := *st; n.runs(n.holds[own], at, s.rules) {
			next = s.reached(&n, a, at, own, next)
		}
		gone := *st
		if !gone.over(gone.holds[own], at, s.rules) {
			return next
		}
		gone.lapsed |= 1 << gone.holds[own].of
		gone.drop(own)
		st = &gone
	}
	if act.outcome == histories.Fail {
		next = append(next, *st)
	}
	if act.known && act.outcome == histories.OK {
		next = s.idle(st, a, at, next)
	}
	return s.foreign(st, a, at, next)
}

// reached adds the states in which a's client has the lock.
func (s *search) reached(st *state, a, at, own int, next []state) []state {
	act := &s.acts[a]
	did := *st
	if act.f == histories.Extend {
		did.holds[own].since, did.holds[own].lease = int8(at), act.lease
	} else if did.holds[own].count--; did.holds[own].count == 0 {
		did.drop(own)
	}
	switch act.outcome {
	case histories.OK, histories.Info:
		next = append(next, did)
	case histories.Fail:
		lied, liedAndDid := s.wrong(st, truthful, 0), s.wrong(&did, truthful, 0)
		lied.cost++
		liedAndDid.cost++
		next = append(next, lied, liedAndDid)
	}
	if act.mode == shared && act.outcome != histories.Fail {
		next = s.alone(&did, a, at, next)
	}
	if act.f == histories.Release && act.mode == reentrant && act.outcome != histories.Fail {
		next = s.misreleased(st, own, next)
	}
	return next
}

// alone adds the states in which what a reader does to its own hold ends those of others.
func (s *search) alone(st *state, a, at int, next []state) []state {
	n := s.wrong(st, ownership, 0)
	for i := n.held - 1; i >= 0; i-- {
		if int(n.holds[i].of) != s.acts[a].of {
			n.drop(i)
		}
	}
	if n.held == st.held {
		return next
	}
	return append(next, n)
}

// misreleased adds the states in which a re-entrant client's release gives back more than one
// entry, or none.
func (s *search) misreleased(st *state, own int, next []state) []state {
	if !s.rules.wide {
		return next
	}
	next = s.miscounted(st, own, 1, next)
	w := s.wrong(st, reentrancy, 0)
	next = append(next, w)
	w.drop(own)
	return append(next, w)
}

// idle adds the states in which a says "done" of what it has not.
func (s *search) idle(st *state, a, at int, next []state) []state {
	act := &s.acts[a]
	if !s.rules.wide || act.of < 0 || !s.ended(st, act) {
		return append(next, s.wrong(st, truthful, 0))
	}
	// Its lease has ended, and nothing else: that is wrong only if another has the lock.
	free := *st
	for i := free.held - 1; i >= 0; i-- {
		if free.holds[i].mode != act.mode || act.mode != shared {
			if !free.over(free.holds[i], at, s.rules) {
				return append(next, s.wrong(st, truthful, 0))
			}
			free.lapsed |= 1 << free.holds[i].of
			free.drop(i)
		}
	}
	next = append(next, s.wrong(st, truthful, 0), free)
	if act.f == histories.Extend { // and revives it
		free.hold(hold{of: int8(act.of), who: int8(act.who), mode: act.mode, since: int8(at), lease: act.lease, count: 1})
		next = append(next, free)
	}
	return next
}

// ended reports whether the lease of the attempt, or of its re-entrant client, was found to be over.
func (s *search) ended(st *state, act *act) bool {
	if act.mode != reentrant {
		return st.lapsed&(1<<act.of) != 0
	}
	for i := range s.acts {
		if s.acts[i].who == act.who && st.lapsed&(1<<i) != 0 {
			return true
		}
	}
	return false
}

// lengthened adds the states in which an extend gives another's key its own lease. If that ends it
// earlier it is as if it had ended it.
func (s *search) lengthened(st *state, a, at, i int, breaks uint8, extra int8, next []state) []state {
	h, lease := st.holds[i], s.acts[a].lease
	longer, shorter := s.wrong(st, breaks, 0), s.wrong(st, breaks|ownership, 0)
	shorter.cost += extra
	if lease >= forever || h.lease < forever && longer.after(at, int(h.since), h.lease-lease) {
		longer.holds[i].since, longer.holds[i].lease = int8(at), lease
		next = append(next, longer)
	}
	if lease < forever && (h.lease >= forever || shorter.within(at, int(h.since), h.lease-lease)) {
		shorter.holds[i].since, shorter.holds[i].lease = int8(at), lease
		next = append(next, shorter)
	}
	return next
}

// foreign adds the states in which a touches what is another's. That it did so and says otherwise,
// or nothing, is dearer than that it says so.
func (s *search) foreign(st *state, a, at int, next []state) []state {
	act := &s.acts[a]
	var breaks uint8
	var extra int8
	switch act.outcome {
	case histories.OK:
		breaks = truthful
	case histories.Info:
		extra = 1
	case histories.Fail:
		extra = 2
	}
	for i, h := range st.holds[:st.held] {
		n := *st
		if !n.runs(h, at, s.rules) {
			continue
		}
		if act.f == histories.Extend {
			next = s.lengthened(&n, a, at, i, breaks, extra, next)
		}
		n = s.wrong(&n, breaks|ownership, 0)
		n.cost += extra
		if act.f == histories.Release && h.count > 1 { // one entry of several
			less := n
			less.holds[i].count--
			next = append(next, less)
		}
		n.drop(i)
		next = append(next, n)
		if n.held > 0 { // all at once
			n.held = 0
			next = append(next, n)
		}
	}
	return next
}
