package oracle

import (
	"math"
	"slices"
	"time"

	"github.com/lockbench/lockbench/histories"
)

// An act is a call as the search has it.
type act struct {
	call
	mode     mode
	token    int32
	inv, ret tick
	lease    tick   // what it asks for; forever: without an end
	known    bool   // it must take effect, or be answered, between inv and ret
	before   uint16 // the acts that must come before it
	of       int    // place of its attempt's acquire, -1 if there is none
	first    tick   // of an acquire: when its first release was invoked; forever: never
	again    bool   // a release that has another effect beside its own, see server
	surfaced bool   // of an acquire of unknown outcome: an accepted call shows that it was granted
}

// A hold is a key of the server, or what stands for it.
type hold struct {
	of    int8 // place of the acquire
	who   int8
	mode  mode
	since int8 // the instant from which the lease runs
	count int8 // entries of a re-entrant client
	lease tick
	token int32
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
	holds  [maxCalls]hold
	held   int
	done   uint16 // acts that took effect or were answered
	lapsed uint16 // acquires whose lease was found to be over
	last   int    // the instant of the last act
	token  int32  // the highest so far
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

// over says that the lease of a hold has ended at an instant, and returns whether that can be.
func (st *state) over(h hold, at int, r rules) bool {
	return h.lease < forever && st.after(at, int(h.since), r.least(h.lease))
}

// runs says that the lease of a hold has not ended at an instant.
func (st *state) runs(h hold, at int, r rules) bool {
	return h.lease >= forever || st.within(at, int(h.since), r.most(h.lease))
}

// rules say how much a search excuses.
type rules struct {
	generous bool // whatever can be excused is excused; else only what certainly is no wrong
	beside   bool // a grant inside another's lease is a wrong that may be assumed
	budget   int8 // how many wrongs may be assumed
}

// least is the shortest that a lease can last. The generous tolerance is twice the checker's
// or more, so that no verdict hangs on rounding.
func (r rules) least(lease tick) tick {
	if r.generous {
		return max(0, lease-lease/33-500)
	}
	return lease
}

// most is the longest that a lease can last.
func (r rules) most(lease tick) tick {
	if r.generous {
		return lease + lease/33 + 500
	}
	return lease
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
}

// A room is where a search keeps the states of each depth. Searches one after the other share it.
type room struct {
	placed [maxActs + 1]state   // an act was placed, and nothing said of what it did
	next   [maxActs + 1][]state // what it can have done
}

const none = int8(math.MaxInt8)

// run finds the explanations under some rules. step adds the states after an act to next.
func (s *search) run(r rules, step func(s *search, st *state, a, at int, next []state) []state) {
	s.rules, s.step, s.fewest = r, step, none
	for p := range s.kept {
		s.kept[p] = none
	}
	var start state
	s.from(&start, 0)
}

// wanted says that an explanation with st's wrongs would tell something new.
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

// newSearch prepares the calls of a history but those of the resource, and crashes.
func newSearch(h history, in *room) *search {
	s := &search{room: in}
	for _, c := range h {
		if c.f == histories.Crash || c.f == histories.Read || c.f == histories.Write {
			continue
		}
		a := act{call: c, mode: modeOf(c.mode), token: int32(c.token), inv: ticks(c.inv), ret: ticks(c.ret), lease: ticks(c.ttl), known: !c.unknown() && !c.open, of: -1, first: forever}
		if c.open {
			a.ret = forever
		}
		if c.ttl == 0 {
			a.lease = forever
		}
		s.acts = append(s.acts, a)
	}
	for i := range s.acts {
		s.relate(i)
	}
	for i := range s.acts {
		a := &s.acts[i]
		if a.f != histories.Acquire {
			continue
		}
		if a.outcome == histories.Info {
			s.surface(i)
		}
	}
	for i := range s.acts {
		if a := s.acts[i]; a.f == histories.Release && a.outcome != histories.Fail && len(s.acts) < maxActs {
			a.again, a.known = true, false
			s.acts = append(s.acts, a)
		}
	}
	s.require()
	return s
}

func (s *search) require() {
	s.must = 0
	for i := range s.acts {
		if s.acts[i].known {
			s.must |= 1 << i
		}
	}
}

// relate finds what came before an act, its acquire, and that one's first release.
func (s *search) relate(i int) {
	a := &s.acts[i]
	for j := range s.acts {
		b := &s.acts[j]
		if i != j && b.known && (b.ret < a.inv || b.ret == a.inv && b.who == a.who) {
			a.before |= 1 << j
		}
		if b.f == histories.Acquire && b.who == a.who && b.attempt == a.attempt && a.f != histories.Count {
			a.of = j
			if a.f == histories.Extend && a.ttl == 0 { // it asks for that of its acquire
				a.lease = b.lease
			}
			if a.f == histories.Release {
				b.first = min(b.first, a.inv)
			}
		}
	}
}

// surface finds out whether an accepted release or extend shows that an acquire of unknown
// outcome was granted. A re-entrant client's shows that if it has made no other acquire.
func (s *search) surface(i int) {
	a := &s.acts[i]
	for j := range s.acts {
		if b := &s.acts[j]; j != i && b.f == histories.Acquire && b.who == a.who && a.mode == reentrant && b.outcome != histories.Fail {
			return
		}
	}
	a.surfaced = slices.ContainsFunc(s.acts, func(b act) bool {
		return b.of == i && b.f != histories.Acquire && b.known && b.outcome == histories.OK
	})
}

// surfacing returns the search in which acquires that surfaced have to be granted before what
// shows that they were.
func (s *search) surfacing() *search {
	t := &search{acts: slices.Clone(s.acts), room: s.room}
	for i := range t.acts {
		a := &t.acts[i]
		if a.of < 0 || a.of == i || !a.known || a.outcome != histories.OK || !t.acts[a.of].surfaced {
			continue
		}
		acquire := &t.acts[a.of]
		if !acquire.known {
			acquire.known, acquire.ret = true, a.ret
		}
		acquire.ret = min(acquire.ret, a.ret)
		a.before |= 1 << a.of
	}
	t.require()
	return t
}

const unit = time.Millisecond / 100

func ticks(d time.Duration) tick {
	return tick(min(d/unit, time.Duration(forever)))
}
