package explain

import "time"

// A lag says that one act comes so much later than another, at least.
type lag struct {
	from, to int8 // acts
	by       time.Duration
	before   int32 // the lag that was known before, by its place; 0: none
}

// instants are the earliest at which the acts that were placed can have had their effect.
type instants struct {
	at   [mostActs]time.Duration
	lags int32 // the last one, by its place
}

// learn adds a lag, and says whether there are still instants for all.
func (s *search) learn(t *instants, l lag) bool {
	l.before = t.lags
	s.lags = append(s.lags, l)
	t.lags = int32(len(s.lags) - 1)
	return t.at[l.from]+l.by <= t.at[l.to] || s.settle(t)
}

// settle moves the acts on until all lags are kept. Acts that move each other on never come to rest: after
// as many rounds as there are acts they would.
func (s *search) settle(t *instants) bool {
	for range len(s.acts) + 1 {
		moved := false
		for i := t.lags; i > 0; i = s.lags[i].before {
			l := &s.lags[i]
			if to := t.at[l.from] + l.by; to > t.at[l.to] {
				if to > s.latest[l.to] {
					return false
				}
				t.at[l.to], moved = to, true
			}
		}
		if !moved {
			return true
		}
	}
	return false
}

// until reports whether an act came no earlier than a time, and whether that can be.
func (s *search) until(t *instants, a int, from time.Duration) bool {
	if from <= t.at[a] {
		return true
	}
	if from > s.latest[a] {
		return false
	}
	t.at[a] = from
	return s.settle(t)
}

// drift is how much longer or shorter a lease may last on a server, see docs/certificates.md.
func drift(lease time.Duration) time.Duration { return lease/100 + 2*time.Millisecond }

// ran reports whether a key's lease was over when an act came, and whether that can be.
func (s *search) ran(st *state, k key, a int) bool {
	return k.lease < forever && s.learn(&st.instants, lag{from: k.since, to: int8(a), by: max(0, k.lease-drift(k.lease))})
}

// runs reports whether a key's lease was not over when an act came, and whether that can be.
func (s *search) runs(st *state, k key, a int) bool {
	return k.lease >= forever || s.learn(&st.instants, lag{from: int8(a), to: k.since, by: -k.lease - drift(k.lease) - s.late})
}

// shorter reports whether an act, which gives a key a lease, ends it no later than the key's own would have.
func (s *search) shorter(st *state, k key, a int, lease time.Duration) bool {
	switch {
	case k.lease >= forever:
		return true
	case lease >= forever:
		return false
	}
	return s.learn(&st.instants, lag{from: int8(a), to: k.since, by: lease - k.lease})
}

// longer reports whether an act, which gives a key a lease, ends it no earlier than the key's own would have.
func (s *search) longer(st *state, k key, a int, lease time.Duration) bool {
	switch {
	case lease >= forever:
		return true
	case k.lease >= forever:
		return false
	}
	return s.learn(&st.instants, lag{from: k.since, to: int8(a), by: k.lease - lease})
}
