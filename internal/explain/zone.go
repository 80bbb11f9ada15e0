package explain

import (
	"slices"
	"time"
)

// Many orders of calls that overlap lead to the same keys, and leave the same room for what comes next. From
// such states only the first one goes on.

// patience is how many states a search looks at before it asks whether it has been there.
const patience = 500

// A situation is what a state tells without its instants.
type situation struct {
	placed, lapsed uint16
	held           int
	token          int64
	keys           [MostCalls]key
}

// A zone is the instants that a state leaves to what may matter yet: the acts from which leases run, and now.
type zone struct {
	wrongs int8
	broken uint8
	early  [MostCalls + 1]time.Duration                // the earliest of each, and of now
	late   [MostCalls]time.Duration                    // the latest
	apart  [MostCalls + 1][MostCalls + 1]time.Duration // by how much the second comes later than the first at least
}

// within reports whether all that is possible in z is so in o, too, without more wrongs.
func (z *zone) within(o *zone, n int) bool {
	if o.wrongs > z.wrongs || o.broken&^z.broken != 0 || z.early[n] < o.early[n] {
		return false
	}
	for i := range n {
		if z.early[i] < o.early[i] || z.late[i] > o.late[i] {
			return false
		}
		for j := range n + 1 {
			if z.apart[i][j] < o.apart[i][j] {
				return false
			}
		}
	}
	return true
}

// been reports whether a state leads nowhere where another has not led.
func (s *search) been(st *state) bool {
	at := situation{placed: st.placed, lapsed: st.lapsed, held: st.held, token: st.token}
	copy(at.keys[:], st.keys[:st.held])
	z := s.zone(st)
	if slices.ContainsFunc(s.seen[at], func(o zone) bool { return z.within(&o, st.held) }) {
		return true
	}
	s.seen[at] = append(s.seen[at], z)
	return false
}

// zone is that of a state. Nothing bounds now from above: time goes on.
func (s *search) zone(st *state) zone {
	var apart [mostActs][mostActs]time.Duration
	for i := range apart {
		for j := range apart {
			apart[i][j] = -forever
		}
		apart[i][i] = 0
	}
	for i := st.lags; i > 0; i = s.lags[i].before {
		l := &s.lags[i]
		apart[l.from][l.to] = max(apart[l.from][l.to], l.by)
	}
	n := len(s.acts)
	for by := range n {
		for i := range n {
			if apart[i][by] == -forever {
				continue
			}
			for j := range n {
				if apart[by][j] > -forever {
					apart[i][j] = max(apart[i][j], apart[i][by]+apart[by][j])
				}
			}
		}
	}
	z := zone{wrongs: st.wrongs, broken: st.broken}
	z.early[st.held] = st.at[st.last]
	for i := range st.held {
		a := st.keys[i].since
		z.early[i], z.late[i] = st.at[a], forever
		for b := range n {
			if apart[a][b] > -forever {
				z.late[i] = min(z.late[i], s.latest[b]-apart[a][b])
			}
		}
		for j := range st.held {
			z.apart[i][j] = apart[a][st.keys[j].since]
		}
		z.apart[i][st.held] = apart[a][st.last]
	}
	return z
}
