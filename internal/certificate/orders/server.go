package orders

import "github.com/lockbench/lockbench/histories"

// What the server's wrongs break. They number the bits of state.broken.
const (
	ownership = 1 << iota
	truthful
	reentrancy
	fencing
)

// server plays one act on a lock server with one key for each hold: SET NX PX, PEXPIRE if the
// key is the caller's, DEL if it is, a count for a re-entrant client, and one key for each
// reader. It adds every state in which the act can have been answered as it was.
//
// A server may do wrong, each time at the price of 1. It is 2 to refuse a release or an extend to
// the holder, so that a refusal is believed if an accepted release of somebody else explains it;
// it is 2 as well for a release of unknown outcome to do so, and 3 for one that was refused.
//
//   - an acquire is granted inside another's lease, whose key stays or is overwritten (if the
//     rules allow it, and never to an acquire that nothing shows to have been granted);
//   - a release or extend ends a hold of somebody else, that of a reader also together with its
//     own, or a release takes one of several entries away: breaks ownership, and truthful replies if it says "done" to who has not the lock;
//   - an extend gives somebody else's key its own lease: breaks truthful replies if it says "done",
//     and ownership if the key ends earlier for it;
//   - a release or extend says "done" to who has not the lock, or is refused to the holder, and
//     does it or not: breaks truthful replies;
//   - an acquire is refused when nobody else has the lock: breaks truthful replies; when only
//     other readers have it, to a reader: breaks none of the four; when the client itself has it,
//     re-entrant: breaks re-entrancy;
//   - a count is not what the server counts, or a re-entry or release is counted wrongly: breaks re-entrancy;
//   - a token is not higher than all before, other than a re-entry's: breaks fencing.
//
// A re-entry never shortens the lease. To the wide reading a release may also end a hold of
// somebody else at another instant than it ends its own, as if it were sent twice. Where a
// definition leaves open whether something is wrong, it is free to the wide reading: that a
// re-entry shortens the lease; that a key outlives its lease, and is refused; "done"
// for a lease that has merely ended, while nobody else has the lock; and a refusal beside
// another's acquire that was under way.
func (s *search) server(st *state, a, at int, next []state) []state {
	if s.acts[a].again {
		if !s.rules.wide {
			return next
		}
		return s.foreign(st, a, at, next)
	}
	switch s.acts[a].f {
	case histories.Acquire:
		if s.acts[a].outcome == histories.Fail {
			return s.refused(st, a, at, next)
		}
		return s.granted(st, a, at, 0, false, next)
	case histories.Release, histories.Extend:
		return s.touched(st, a, at, next)
	case histories.Count:
		return s.counted(st, a, at, next)
	}
	return next
}

// wrong is st after a wrong that breaks some properties. The narrow reading counts as broken what
// may be, too.
func (s *search) wrong(st *state, breaks, maybe uint8) state {
	w := *st
	w.cost++
	w.broken |= breaks
	if !s.rules.wide {
		w.broken |= maybe
	}
	return w
}

// granted adds the states after a grant, from the i-th hold on.
func (s *search) granted(st *state, a, at, i int, beside bool, next []state) []state {
	act := &s.acts[a]
	for ; i < st.held && st.holds[i].shares(act); i++ {
	}
	if i >= st.held {
		return s.taken(st, a, at, next)
	}
	h := st.holds[i]
	if ended := *st; ended.over(h, at, s.rules) {
		ended.lapsed |= 1 << h.of
		ended.drop(i)
		next = s.granted(&ended, a, at, i, beside, next)
	}
	if !s.rules.beside || !act.known && !act.surfaced {
		return next
	}
	double := *st
	if !beside {
		double = s.wrong(st, 0, 0)
	}
	if !s.wanted(&double) || !double.runs(h, at, s.rules) {
		return next
	}
	next = s.granted(&double, a, at, i+1, true, next)
	double.drop(i)
	return s.granted(&double, a, at, i, true, next)
}

// taken adds the states in which a has the lock, when nobody stands in its way any more.
func (s *search) taken(st *state, a, at int, next []state) []state {
	act := &s.acts[a]
	fresh := hold{of: int8(a), who: int8(act.who), mode: act.mode, since: int8(at), lease: act.lease, count: 1, token: act.token}
	own := -1
	if act.mode == reentrant {
		own = st.party(act.who)
	}
	if own < 0 {
		n := *st
		n.hold(fresh)
		s.number(&n, a, false)
		return append(next, n)
	}
	old := st.holds[own]
	if n := *st; n.over(old, at, s.rules) {
		n.lapsed |= 1 << old.of
		n.holds[own] = fresh
		s.number(&n, a, false)
		next = append(next, n)
	}
	entered := *st
	if !entered.runs(old, at, s.rules) {
		return next
	}
	entered.holds[own].count++
	from := len(next)
	next = s.longest(&entered, own, at, act.lease, next)
	for i := from; i < len(next); i++ {
		s.number(&next[i], a, true)
	}
	return s.miscounted(&entered, own, 2, next)
}

// miscounted adds the states in which a re-entrant client's entries are counted wrongly.
func (s *search) miscounted(st *state, own int, most int8, next []state) []state {
	if !s.rules.wide {
		return next
	}
	right := st.holds[own].count
	w := s.wrong(st, reentrancy, 0)
	if !s.wanted(&w) {
		return next
	}
	for count := range right + most {
		if count > 0 && count != right {
			w.holds[own].count = count
			next = append(next, w)
		}
	}
	return next
}

// number gives a its fencing token. One that is wrong has its price. Of a hold whose token nobody
// knows it is known that it is higher than all before: its token is that one, negative.
func (s *search) number(st *state, a int, entered bool) {
	token := s.acts[a].token
	own := &st.holds[s.own(st, a)].token
	if !entered {
		*own = token
	}
	switch {
	case token == 0 && !entered:
		*own = -st.token
		return
	case token == 0:
		return
	}
	right := token > st.token
	if entered {
		right = right || token == *own || *own <= 0 && token > -*own || s.rules.wide && token > *own
		*own = max(*own, token)
	}
	highest := max(st.token, token)
	if !right {
		*st = s.wrong(st, fencing, 0)
	}
	st.token = highest
}

// party is the place of a worker's hold, or -1.
func (st *state) party(who int) int {
	for i, h := range st.holds[:st.held] {
		if int(h.who) == who {
			return i
		}
	}
	return -1
}

// own is the place of the hold that a's release or extend is about, or -1.
func (s *search) own(st *state, a int) int {
	act := &s.acts[a]
	if act.mode == reentrant {
		if !s.rules.wide && act.of >= 0 && act.f != histories.Acquire && s.acts[act.of].outcome == histories.Fail {
			return -1 // whether who was refused may use what it has from another acquire is left open
		}
		return st.party(act.who)
	}
	for i, h := range st.holds[:st.held] {
		if int(h.of) == act.of {
			return i
		}
	}
	return -1
}

// refused adds the states in which an acquire is refused.
func (s *search) refused(st *state, a, at int, next []state) []state {
	act := &s.acts[a]
	others := false // somebody else may have the lock, and would share it
	for _, h := range st.holds[:st.held] {
		if n := *st; s.rules.wide && (!h.shares(act) || n.over(h, at, s.rules)) {
			next = append(next, n)
		}
		n := *st
		switch {
		case !n.runs(h, at, s.rules):
		case !h.shares(act) && !s.rules.wide:
			next = append(next, n)
		case h.shares(act) && h.mode == shared:
			others = true
		}
	}
	if s.rules.wide && s.contended(a) {
		next = append(next, *st)
	}
	switch {
	case others:
		return append(next, s.wrong(st, 0, truthful))
	case act.mode == reentrant && st.party(act.who) >= 0:
		h := st.holds[st.party(act.who)]
		if n := *st; n.runs(h, at, s.rules) {
			next = append(next, s.wrong(&n, reentrancy, truthful))
		}
		if n := *st; !n.over(h, at, s.rules) {
			return next
		}
	}
	return append(next, s.wrong(st, truthful, 0))
}

// contended reports whether another's acquire was under way together with a.
func (s *search) contended(a int) bool {
	for i := range s.acts {
		b := &s.acts[i]
		if i != a && b.f == histories.Acquire && b.from < s.acts[a].to && b.to > s.acts[a].from {
			return true
		}
	}
	return false
}

// counted adds the states in which a count was answered.
func (s *search) counted(st *state, a, at int, next []state) []state {
	act := &s.acts[a]
	if act.outcome != histories.OK {
		return append(next, *st)
	}
	own := st.party(act.who)
	if own < 0 {
		if act.count == 0 {
			return append(next, *st)
		}
		return append(next, s.wrong(st, reentrancy, 0))
	}
	if n := *st; act.count == 0 && n.over(st.holds[own], at, s.rules) {
		n.lapsed |= 1 << n.holds[own].of
		n.drop(own)
		next = append(next, n)
	}
	n := *st
	switch {
	case !n.runs(st.holds[own], at, s.rules):
	case act.count == int(st.holds[own].count):
		return append(next, n)
	}
	return append(next, s.wrong(st, reentrancy, 0))
}
