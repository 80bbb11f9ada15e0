package orders

import (
	"math"
	"time"

	"github.com/lockbench/lockbench/histories"
)

// An act is a call as the search has it.
type act struct {
	f        histories.F
	who      int // of the workers, in order of their first calls
	attempt  uint64
	mode     mode // of its acquire
	outcome  histories.Type
	token    int64
	count    int
	inv, ret time.Duration
	from, to int           // the events of these; to of what need not take effect is Pending
	lease    time.Duration // what it asks for; forever: without an end
	known    bool          // it must take effect, or be answered, between inv and ret
	before   uint16        // the acts that must come before it
	of       int           // place of its attempt's acquire, -1 if there is none
	first    Moment        // of an acquire: when its first release was invoked; Pending: never
	again    bool          // a release that has another effect beside its own, see server
	surfaced bool          // of an acquire of unknown outcome: an accepted call shows that it was granted
}

const (
	maxActs = MaxCalls + 3
	none    = int8(math.MaxInt8)
)

// A hold is a key of the server, or what stands for it.
type hold struct {
	of    int8 // place of the acquire
	who   int8
	mode  mode
	since int8 // the instant from which the lease runs
	count int8 // entries of a re-entrant client
	lease time.Duration
	token int64
}

// A mode is a histories.Mode in a byte.
type mode uint8

const (
	exclusive mode = iota
	shared
	reentrant
)

func modeOf(m histories.Mode) mode {
	switch m {
	case histories.Shared:
		return shared
	case histories.Reentrant:
		return reentrant
	}
	return exclusive
}

func (h hold) shares(a *act) bool {
	switch {
	case h.mode != a.mode || h.mode == exclusive:
		return false
	case h.mode == reentrant:
		return int(h.who) == a.who
	}
	return true
}

// A state is a server after some acts, and what they tell of their instants.
type state struct {
	instants
	holds  [MaxCalls]hold
	held   int
	done   uint16 // acts that took effect or were answered
	lapsed uint16 // acquires whose lease was found to be over
	last   int    // the instant of the last act, or before it
	token  int64  // the highest so far
	cost   int8   // how often the lock did wrong
	broken uint8  // the properties that it broke, of those that a search tells apart
}

// drop forgets the i-th hold.
func (st *state) drop(i int) {
	st.held--
	copy(st.holds[i:], st.holds[i+1:st.held+1])
}

func (st *state) hold(h hold) {
	st.holds[st.held] = h
	st.held++
}

// over reports whether the lease of a hold has ended at an instant, and returns whether that can be.
func (st *state) over(h hold, at int, r rules) bool {
	return h.lease < forever && st.after(at, int(h.since), r.least(h.lease))
}

// runs reports whether the lease of a hold has not ended at an instant.
func (st *state) runs(h hold, at int, r rules) bool {
	return h.lease >= forever || st.within(at, int(h.since), r.most(h.lease))
}

// rules say how much a search excuses.
type rules struct {
	wide   bool // whatever can be excused is excused; else only what certainly is no wrong
	beside bool // a grant inside another's lease is a wrong that may be assumed
	budget int8 // how many wrongs may be assumed
	drift  Drift
}

// least is the shortest that a lease can last.
func (r rules) least(lease time.Duration) time.Duration { return max(0, lease-r.drift.of(lease)) }

// most is the longest that a lease can last.
func (r rules) most(lease time.Duration) time.Duration {
	return lease + r.drift.of(lease) + min(r.drift.Late, forever)
}

// A search looks for explanations of a history.
type search struct {
	acts  []act
	must  uint16 // the acts that have to be placed
	rules rules
	step  func(s *search, st *state, a, at int, next []state) []state
	room  *room

	// kept is for each property the fewest wrongs of an explanation that keeps it, and fewest
	// that of any.
	kept   [4]int8
	fewest int8
	visits int // of states
	seen   map[scene][]sight
}

// A room is where a search keeps the states of each depth. Searches one after the other share it.
type room struct {
	placed [maxActs + 1]state   // an act was placed, and nothing said of what it did
	next   [maxActs + 1][]state // what it can have done
}

// fewVisits are so few that it costs more to look for states that were seen.
const fewVisits = 50

// run finds the explanations under some rules. step adds the states after an act to next.
func (s *search) run(r rules, step func(s *search, st *state, a, at int, next []state) []state) {
	s.rules, s.step, s.fewest, s.visits = r, step, none, 0
	for p := range s.kept {
		s.kept[p] = none
	}
	s.seen = make(map[scene][]sight)
	var start state
	s.from(&start, 0)
}

// wanted reports whether an explanation with st's wrongs would tell something new.
func (s *search) wanted(st *state) bool {
	if st.cost > s.rules.budget {
		return false
	}
	for p, kept := range s.kept {
		if st.broken&(1<<p) == 0 && st.cost < kept {
			return true
		}
	}
	return st.cost < s.fewest
}

func (s *search) from(st *state, depth int) {
	if !s.wanted(st) {
		return
	}
	if s.must&^st.done == 0 {
		s.found(st)
		return
	}
	if depth > 0 {
		st.forget()
	}
	if s.visits++; s.visits > fewVisits && s.knows(st) {
		return
	}
	for a := range s.acts {
		act := &s.acts[a]
		if bit := uint16(1) << a; st.done&bit != 0 || act.before&^st.done != 0 {
			continue
		}
		placed := &s.room.placed[depth]
		*placed = *st
		at := placed.add()
		if !placed.after(at, 0, act.inv) || (act.known || act.again) && !placed.within(at, 0, act.ret) || !placed.after(at, st.last, 0) {
			continue
		}
		placed.done |= 1 << a
		placed.last = at
		next := s.step(s, placed, a, at, s.room.next[depth][:0])
		s.room.next[depth] = next
		for i := range next {
			s.from(&next[i], depth+1)
		}
	}
}

func (s *search) found(st *state) {
	s.fewest = min(s.fewest, st.cost)
	for p := range s.kept {
		if st.broken&(1<<p) == 0 {
			s.kept[p] = min(s.kept[p], st.cost)
		}
	}
}
