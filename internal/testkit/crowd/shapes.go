package crowd

import (
	"time"

	"github.com/lockbench/lockbench/histories"
)

// A Shape is a history in which something comes up so often that a judge which looked at all of it for each call would be quadratic.
type Shape struct {
	Name  string
	write func(s *scribe, n int)
}

// Events are a history of the shape, of n calls or so, one microsecond apart.
func (s Shape) Events(n int) []histories.Event {
	var by scribe
	s.write(&by, n)
	return by.events
}

// scribe writes a history.
type scribe struct {
	events  []histories.Event
	attempt uint64
}

func (s *scribe) event(worker int, t histories.Type, f histories.F, e histories.Event) {
	e.Index, e.Time = len(s.events), time.Duration(len(s.events))*time.Microsecond
	e.Process, e.Worker, e.Type, e.F = worker, worker, t, f
	if worker != histories.Nemesis {
		e.Key = "k"
	}
	s.events = append(s.events, e)
}

func (s *scribe) call(worker int, t histories.Type, f histories.F, e histories.Event) {
	s.event(worker, histories.Invoke, f, e)
	if t == histories.Fail {
		e.Value = ""
	}
	s.event(worker, t, f, e)
}

// acquire begins an attempt, and returns what later calls of it have.
func (s *scribe) acquire(worker int, t histories.Type, ttl time.Duration, mode histories.Mode) histories.Event {
	s.attempt++
	s.call(worker, t, histories.Acquire, histories.Event{Attempt: s.attempt, TTL: ttl, Value: string(mode)})
	return histories.Event{Attempt: s.attempt}
}

const day = 24 * time.Hour

// Shapes lists the shapes.
func Shapes() []Shape { return append(ofOneHolder(), ofMany()...) }

func ofOneHolder() []Shape {
	return []Shape{
		{"one holder, many extends", func(s *scribe, n int) {
			a := s.acquire(0, histories.OK, day, "")
			a.TTL = day
			for range n {
				s.call(0, histories.OK, histories.Extend, a)
			}
		}},
		{"the same, half refused", func(s *scribe, n int) {
			a := s.acquire(0, histories.OK, day, "")
			a.TTL = day
			for range n / 2 {
				s.call(0, histories.OK, histories.Extend, a)
				s.call(0, histories.Fail, histories.Extend, a)
			}
		}},
		{"one attempt, many releases", func(s *scribe, n int) {
			a := s.acquire(0, histories.OK, day, "")
			for range n {
				s.call(0, histories.Fail, histories.Release, a)
			}
		}},
	}
}

func ofMany() []Shape {
	return []Shape{
		{"many faults, then calls", func(s *scribe, n int) {
			for range n / 2 {
				s.event(histories.Nemesis, histories.Invoke, "pause", histories.Event{Node: "A"})
				s.event(histories.Nemesis, histories.OK, "pause", histories.Event{Node: "A"})
			}
			for i := range n / 4 {
				a := s.acquire(i%5, histories.OK, time.Second, "")
				s.call(i%5, histories.OK, histories.Release, a)
			}
		}},
		{"releases answered after their lease", func(s *scribe, n int) {
			for i := range n / 3 {
				a := s.acquire(i%5, histories.OK, 3*time.Millisecond, "")
				s.event(i%5, histories.Invoke, histories.Release, a)
				for range 2 {
					s.acquire((i+1)%5, histories.Fail, 3*time.Millisecond, "")
				}
				s.event(i%5, histories.OK, histories.Release, a)
			}
		}},
		{"holds that vanish, many releases", func(s *scribe, n int) {
			for i := range n / 4 {
				a := s.acquire(i%5, histories.OK, day, "")
				s.call(i%5, histories.OK, histories.Release, a)
				b := s.acquire((i+1)%5, histories.OK, day, "")
				s.call((i+1)%5, histories.Fail, histories.Release, b)
			}
		}},
		{"32 readers at a time, never a gap", func(s *scribe, n int) {
			var held [32]histories.Event
			for i := range n / 2 {
				if w := i % len(held); held[w].Attempt != 0 {
					s.call(w, histories.OK, histories.Release, held[w])
				}
				held[i%len(held)] = s.acquire(i%len(held), histories.OK, day, histories.Shared)
			}
		}},
		{"a client that enters again and again", func(s *scribe, n int) {
			for i := range n / 8 {
				first := s.acquire(i%5, histories.OK, time.Second, histories.Reentrant)
				second := s.acquire(i%5, histories.OK, time.Second, histories.Reentrant)
				s.call(i%5, histories.Info, histories.Extend, histories.Event{Attempt: second.Attempt, TTL: time.Second})
				s.call(i%5, histories.OK, histories.Release, first)
				s.call(i%5, histories.OK, histories.Release, second)
			}
		}},
	}
}
