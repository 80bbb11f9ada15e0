package orders

import (
	"slices"
	"time"

	"github.com/lockbench/lockbench/histories"
)

// newSearch prepares calls for a search.
func newSearch(calls []Call, in *room) *search {
	s := &search{room: in}
	if len(calls) == 0 {
		return s
	}
	start := calls[0].Invoked.Time
	for i := range calls {
		start = min(start, calls[i].Invoked.Time)
	}
	workers := make(map[int]int)
	for i := range calls {
		c := &calls[i]
		if _, named := workers[c.Worker]; !named {
			workers[c.Worker] = len(workers)
		}
		a := act{
			f: c.F, who: workers[c.Worker], attempt: c.Attempt, mode: modeOf(c.Mode), outcome: c.Outcome, token: c.Token, count: c.Count,
			inv: since(start, c.Invoked.Time), from: c.Invoked.Event, ret: forever, to: Pending, lease: forever,
			known: c.Outcome != histories.Info && !c.open(), of: -1, first: Moment{Pending, forever},
		}
		if a.known {
			a.to = c.Returned.Event
		}
		if !c.open() {
			a.ret = since(start, c.Returned.Time)
		}
		if c.TTL > 0 {
			a.lease = min(c.TTL, forever)
		}
		s.acts = append(s.acts, a)
	}
	for i := range s.acts {
		s.relate(i, calls)
	}
	for i := range s.acts {
		if a := &s.acts[i]; a.f == histories.Acquire && a.outcome == histories.Info {
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

// since is how much later a time is than the start, which is not after it.
func since(start, t time.Duration) time.Duration {
	if d := t - start; d >= 0 && d < forever { // negative if it overflows
		return d
	}
	return forever
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
func (s *search) relate(i int, calls []Call) {
	a := &s.acts[i]
	for j := range s.acts {
		b := &s.acts[j]
		if i != j && b.to < a.from {
			a.before |= 1 << j
		}
		if b.f != histories.Acquire || b.attempt != a.attempt || a.f == histories.Count {
			continue
		}
		a.of, a.mode = j, b.mode
		if a.f == histories.Extend && calls[i].TTL == 0 { // it asks for that of its acquire
			a.lease = b.lease
		}
		if a.f == histories.Release && a.from < b.first.Event {
			b.first = Moment{a.from, a.inv}
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
			acquire.known, acquire.ret, acquire.to = true, a.ret, a.to
		}
		acquire.ret, acquire.to = min(acquire.ret, a.ret), min(acquire.to, a.to)
		a.before |= 1 << a.of
	}
	t.require()
	return t
}
