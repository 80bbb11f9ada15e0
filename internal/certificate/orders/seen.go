package orders

import (
	"cmp"
	"slices"
	"time"
)

// forget leaves of the instants those that what follows can depend on: those from which leases run,
// and one that is not before the last act.
func (st *state) forget() {
	slices.SortFunc(st.holds[:st.held], func(a, b hold) int { return cmp.Compare(a.of, b.of) })
	clear(st.holds[st.held:])
	kept := [maxInstants + 1]int{0, st.last}
	n := 1
	for i := range st.holds[:st.held] {
		h := &st.holds[i]
		if h.lease >= forever {
			h.since = 0
			continue
		}
		n++
		kept[n], h.since = int(h.since), int8(n)
	}
	var less instants
	less.n = n
	for i, from := range kept[:n+1] {
		for j, to := range kept[:n+1] {
			less.most[i][j] = st.most[from][to]
		}
	}
	for j := range n + 1 {
		less.most[1][j] = forever // what comes next may come later
	}
	less.most[1][1] = 0
	st.instants, st.last = less, 1
}

// A scene is what a state is but for its instants, and for the wrongs that led there.
type scene struct {
	done, lapsed uint16
	token        int64
	holds        [MaxCalls]hold
}

// A sight is a state of a scene from which all was tried.
type sight struct {
	cost   int8
	broken uint8
	most   []time.Duration
}

// knows reports whether all that can follow a state was tried from another one, which had no more
// wrongs, and of which the instants can be all that they can be of this one. Else it notes that it will be.
func (s *search) knows(st *state) bool {
	here := scene{done: st.done, token: st.token, holds: st.holds}
	if s.rules.wide {
		here.lapsed = st.lapsed
	}
	all := s.seen[here]
	for i := range all {
		if all[i].includes(st) {
			return true
		}
	}
	one := sight{cost: st.cost, broken: st.broken}
	for i := range st.n + 1 {
		one.most = append(one.most, st.most[i][:st.n+1]...)
	}
	s.seen[here] = append(all, one)
	return false
}

func (o *sight) includes(st *state) bool {
	if o.cost > st.cost || o.broken&^st.broken != 0 {
		return false
	}
	k := 0
	for i := range st.n + 1 {
		for j := range st.n + 1 {
			if st.most[i][j] > o.most[k] {
				return false
			}
			k++
		}
	}
	return true
}
