package explain

import "github.com/lockbench/lockbench/histories"

// What wrongs break. They are bits of state.broken.
const (
	ownership = 1 << iota
	truth
	reentry
	fencing

	promises = iota
)

// answer has one act arrive on a server with a key for each hold: SET NX PX, PEXPIRE if the key is the caller's,
// DEL if it is, a count for a client that re-enters, a key for each reader. It adds every state in which the
// act can have been answered as it was; docs/certificates.md says what of that is wrong, and what it costs.
func (s *search) answer(st *state, a int, next []state) []state {
	switch act := &s.acts[a]; {
	case act.echo && s.wide:
		return s.strike(st, a, next)
	case act.echo:
		return next
	case act.F == histories.Count:
		return s.tell(st, a, next)
	case act.F != histories.Acquire:
		return s.reach(st, a, next)
	case act.Outcome == histories.Fail:
		return s.refuse(st, a, next)
	}
	return s.grant(st, a, 0, false, next)
}

// wrong is st after one more wrong.
func wrong(st *state, breaks uint8) state {
	n := *st
	n.wrongs++
	n.broken |= breaks
	return n
}

// doubtful is st after one more wrong that breaks promises by the narrow reading.
func (s *search) doubtful(st *state, breaks uint8) state {
	if s.wide {
		breaks = 0
	}
	return wrong(st, breaks)
}

// grant adds the states in which a is granted, when the keys before the i-th are not in its way.
func (s *search) grant(st *state, a, i int, beside bool, next []state) []state {
	act := &s.acts[a]
	for i < st.held && st.keys[i].shares(act) {
		i++
	}
	if i == st.held {
		return s.enter(st, a, next)
	}
	if n := *st; s.ran(&n, st.keys[i], a) {
		n.lapse(i)
		next = s.grant(&n, a, i, beside, next)
	}
	if !s.beside || !act.sure && !act.emerged {
		return next
	}
	n := *st
	if !beside {
		n = wrong(st, 0)
	}
	if !s.useful(&n) || !s.runs(&n, st.keys[i], a) {
		return next
	}
	next = s.grant(&n, a, i+1, true, next) // the key stays
	n.remove(i)                            // or is overwritten
	return s.grant(&n, a, i, true, next)
}

// enter adds the states in which a has the lock, when nobody is in its way.
func (s *search) enter(st *state, a int, next []state) []state {
	act := &s.acts[a]
	fresh := key{of: int8(a), since: int8(a), count: 1, worker: act.Worker, mode: act.mode, lease: act.lease}
	own := nobody
	if act.mode == reentrant {
		own = st.client(act.Worker)
	}
	if own == nobody {
		n := *st
		n.add(fresh)
		s.number(&n, a, n.held-1, false)
		return append(next, n)
	}
	if n := *st; s.ran(&n, st.keys[own], a) {
		n.lapsed |= 1 << n.keys[own].of
		n.keys[own] = fresh
		s.number(&n, a, own, false)
		next = append(next, n)
	}
	n := *st
	if !s.runs(&n, st.keys[own], a) {
		return next
	}
	n.keys[own].count++
	first := len(next)
	next = s.renew(&n, a, own, next)
	for i := first; i < len(next); i++ {
		s.number(&next[i], a, own, true)
	}
	return s.miscount(&n, own, 2, next)
}

// renew adds the states in which a re-entry gives a key the longer one of two leases: that is right.
func (s *search) renew(st *state, a, own int, next []state) []state {
	old, lease := st.keys[own], s.acts[a].lease
	if n := *st; s.wide || s.shorter(&n, old, a, lease) {
		next = append(next, n)
	}
	if n := *st; s.wide || s.longer(&n, old, a, lease) {
		n.keys[own].since, n.keys[own].lease = int8(a), lease
		next = append(next, n)
	}
	return next
}

// miscount adds the states in which what a client entered is counted wrongly, below most more than it is.
func (s *search) miscount(st *state, own int, most int8, next []state) []state {
	n := wrong(st, reentry)
	if !s.wide || !s.useful(&n) {
		return next
	}
	right := st.keys[own].count
	for count := int8(1); count < right+most; count++ {
		if count != right {
			n.keys[own].count = count
			next = append(next, n)
		}
	}
	return next
}

// number gives a key its token. That of a key whose token nobody knows is higher than all before: it is kept
// as that one, negative.
func (s *search) number(st *state, a, own int, entered bool) {
	token, had := s.acts[a].Token, &st.keys[own].token
	switch {
	case token == 0 && entered:
		return
	case token == 0:
		*had = -st.token
		return
	}
	right := token > st.token
	if entered {
		right = right || token == *had || *had <= 0 && token > -*had || s.wide && token > *had
		*had = max(*had, token)
	} else {
		*had = token
	}
	if !right {
		*st = wrong(st, fencing)
	}
	st.token = max(st.token, token)
}

// refuse adds the states in which an acquire is refused.
func (s *search) refuse(st *state, a int, next []state) []state {
	act := &s.acts[a]
	readers := false
	for i := range st.held {
		k, n := st.keys[i], *st
		if s.wide && (!k.shares(act) || s.ran(&n, k, a)) { // it may outlive its lease
			next = append(next, n)
		}
		n = *st
		switch {
		case !s.runs(&n, k, a):
		case !k.shares(act) && !s.wide:
			next = append(next, n)
		case k.shares(act) && k.mode == shared:
			readers = true
		}
	}
	if s.wide && s.meets(a) {
		next = append(next, *st)
	}
	own := st.client(act.Worker)
	switch {
	case readers:
		return append(next, s.doubtful(st, truth))
	case act.mode == reentrant && own != nobody:
		if n := *st; s.runs(&n, st.keys[own], a) {
			n = s.doubtful(&n, truth)
			n.broken |= reentry
			next = append(next, n)
		}
		if n := *st; !s.ran(&n, st.keys[own], a) {
			return next
		}
	}
	return append(next, wrong(st, truth))
}

// meets reports whether another's acquire was under way together with a.
func (s *search) meets(a int) bool {
	act := &s.acts[a]
	for i := range s.acts {
		b := &s.acts[i]
		if i != a && b.F == histories.Acquire && b.Invoked.Event < act.Returned.Event && (!b.sure || b.Returned.Event > act.Invoked.Event) {
			return true
		}
	}
	return false
}

// tell adds the states in which a count is answered.
func (s *search) tell(st *state, a int, next []state) []state {
	act := &s.acts[a]
	own := st.client(act.Worker)
	switch {
	case act.Outcome != histories.OK, own == nobody && act.Count == 0:
		return append(next, *st)
	case own == nobody:
		return append(next, wrong(st, reentry))
	}
	if n := *st; act.Count == 0 && s.ran(&n, st.keys[own], a) {
		n.lapse(own)
		next = append(next, n)
	}
	if n := *st; s.runs(&n, st.keys[own], a) && act.Count == int(st.keys[own].count) {
		return append(next, n)
	}
	return append(next, wrong(st, reentry))
}
