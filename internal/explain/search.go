package explain

import (
	"math"
	"time"
)

// A key is what a server has of a hold.
type key struct {
	of     int8 // the acquire
	since  int8 // the act from which on its lease runs
	count  int8 // entries of a client that re-enters
	worker int
	mode   mode
	lease  time.Duration
	token  int64
}

func (k *key) shares(a *act) bool {
	switch {
	case k.mode != a.mode || k.mode == exclusive:
		return false
	case k.mode == reentrant:
		return k.worker == a.Worker
	}
	return true
}

// A state is a server after some acts, with what they tell of each other's instants.
type state struct {
	instants
	keys   [MostCalls]key
	held   int
	placed uint16 // acts
	lapsed uint16 // acquires of which a lease was over
	last   int8   // act
	broken uint8  // promises
	wrongs int8
	token  int64 // the highest so far
}

func (st *state) remove(i int) {
	copy(st.keys[i:], st.keys[i+1:st.held])
	st.held--
}

// lapse removes a key whose lease was over.
func (st *state) lapse(i int) {
	st.lapsed |= 1 << st.keys[i].of
	st.remove(i)
}

func (st *state) add(k key) {
	st.keys[st.held] = k
	st.held++
}

// client is the place of the key that a client who re-enters has, or nobody.
func (st *state) client(worker int) int {
	for i := range st.held {
		if st.keys[i].worker == worker {
			return i
		}
	}
	return nobody
}

// A reading is how much is excused.
type reading struct {
	wide   bool // whatever the definitions leave open is excused
	beside bool // a grant beside another's lease may be assumed, as one wrong
	budget int8 // how many wrongs may be assumed
}

// found is what explanations there are, by the wrongs of those with the fewest.
type found struct {
	fewest int8
	kept   [promises]int8 // of those that keep a promise
}

// none is more wrongs than any explanation has.
const none = int8(math.MaxInt8)

// rule rules on a promise when the narrow reading has explanations.
func (narrow found) rule(wide found, promise int) Ruling {
	switch {
	case narrow.kept[promise] <= narrow.fewest:
		return Kept
	case wide.kept[promise] > narrow.fewest:
		return Broken
	}
	return Open
}

// A search looks for explanations of calls.
type search struct {
	reading
	found

	late   time.Duration
	states int // that were looked at
	seen   map[situation][]zone
	acts   []act
	must   uint16                  // the acts that have to be placed
	latest [mostActs]time.Duration // when acts can have had their effect
	lags   []lag                   // the first one is none
	moves  func(*search, *state, int, []state) []state
	room   [mostActs + 1][]state // for what follows from an act, by depth
}

// prepare takes other calls.
func (s *search) prepare(calls []Call) {
	s.acts = acts(s.acts[:0], calls)
	s.lags = append(s.lags[:0], lag{})
}

// run returns what explanations there are under a reading. moves adds the states after an act to others.
func (s *search) run(moves func(*search, *state, int, []state) []state, r reading) found {
	s.reading, s.moves, s.must = r, moves, 0
	s.fewest, s.states, s.seen = none, 0, make(map[situation][]zone)
	for p := range s.kept {
		s.kept[p] = none
	}
	for i := range s.acts {
		a := &s.acts[i]
		if s.latest[i] = forever; a.sure || a.echo {
			s.latest[i] = a.by
		}
		if a.sure {
			s.must |= 1 << i
		}
	}
	start := state{last: nobody}
	s.from(&start, 0)
	return s.found
}

// useful reports whether an explanation with the wrongs of st would tell something new.
func (s *search) useful(st *state) bool {
	if st.wrongs > s.budget {
		return false
	}
	for p := range s.kept {
		if st.broken&(1<<p) == 0 && st.wrongs < s.kept[p] {
			return true
		}
	}
	return st.wrongs < s.fewest
}

// from goes on from a state.
func (s *search) from(st *state, depth int) {
	if s.states++; !s.useful(st) {
		return
	}
	if s.must&^st.placed == 0 {
		s.note(st)
		return
	}
	if s.states > patience && st.last != nobody && s.been(st) {
		return
	}
	for a := range s.acts {
		if st.placed&(1<<a) != 0 || s.acts[a].after&^st.placed != 0 {
			continue
		}
		known := len(s.lags)
		if n := *st; s.place(&n, a) {
			s.room[depth] = s.moves(s, &n, a, s.room[depth][:0])
			for i := range s.room[depth] {
				s.from(&s.room[depth][i], depth+1)
			}
		}
		s.lags = s.lags[:known]
	}
}

// place puts an act behind all others, and says whether it can have come then.
func (s *search) place(st *state, a int) bool {
	st.placed |= 1 << a
	last := st.last
	st.last = int8(a)
	if st.at[a] = s.acts[a].Invoked.Time; st.at[a] > s.latest[a] {
		return false
	}
	return last == nobody || s.learn(&st.instants, lag{from: last, to: int8(a)})
}

func (s *search) note(st *state) {
	s.fewest = min(s.fewest, st.wrongs)
	for p := range s.kept {
		if st.broken&(1<<p) == 0 {
			s.kept[p] = min(s.kept[p], st.wrongs)
		}
	}
}
