package checker

import (
	"fmt"
	"testing"
	"time"

	"github.com/lockbench/lockbench/histories"
)

// scribe writes histories of many calls, one microsecond apart.
type scribe struct {
	events  []histories.Event
	attempt uint64
}

func (s *scribe) event(worker int, t histories.Type, f histories.F, e histories.Event) {
	e.Index, e.Time = len(s.events), time.Duration(len(s.events))*time.Microsecond
	e.Process, e.Worker, e.Type, e.F = worker, worker, t, f
	if f != "pause" {
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

// acquire begins an attempt, and returns it.
func (s *scribe) acquire(worker int, t histories.Type, ttl time.Duration) histories.Event {
	s.attempt++
	e := histories.Event{Attempt: s.attempt, TTL: ttl}
	s.call(worker, t, histories.Acquire, e)
	return histories.Event{Attempt: s.attempt}
}

// shapes are histories of n calls or so in which something comes up so often that a judge which
// looked at all of it for each call would be quadratic.
func shapes() map[string]func(s *scribe, n int) {
	const day = 24 * time.Hour
	return map[string]func(s *scribe, n int){
		"one holder, many extends": func(s *scribe, n int) {
			a := s.acquire(0, histories.OK, day)
			a.TTL = day
			for range n {
				s.call(0, histories.OK, histories.Extend, a)
			}
		},
		"the same, half refused": func(s *scribe, n int) {
			a := s.acquire(0, histories.OK, day)
			a.TTL = day
			for range n / 2 {
				s.call(0, histories.OK, histories.Extend, a)
				s.call(0, histories.Fail, histories.Extend, a)
			}
		},
		"many faults, then calls": func(s *scribe, n int) {
			for range n / 2 {
				s.event(histories.Nemesis, histories.Invoke, "pause", histories.Event{Node: "A"})
				s.event(histories.Nemesis, histories.OK, "pause", histories.Event{Node: "A"})
			}
			for i := range n / 4 {
				a := s.acquire(i%5, histories.OK, time.Second)
				s.call(i%5, histories.OK, histories.Release, a)
			}
		},
		"releases answered after their lease": func(s *scribe, n int) {
			for i := range n / 3 {
				a := s.acquire(i%5, histories.OK, 3*time.Millisecond)
				s.event(i%5, histories.Invoke, histories.Release, a)
				for range 2 {
					s.acquire((i+1)%5, histories.Fail, 3*time.Millisecond)
				}
				s.event(i%5, histories.OK, histories.Release, a)
			}
		},
		"one attempt, many releases": func(s *scribe, n int) {
			a := s.acquire(0, histories.OK, day)
			for range n {
				s.call(0, histories.Fail, histories.Release, a)
			}
		},
		"holds that vanish, many releases": func(s *scribe, n int) {
			for i := range n / 4 {
				a := s.acquire(i%5, histories.OK, day)
				s.call(i%5, histories.OK, histories.Release, a)
				b := s.acquire((i+1)%5, histories.OK, day)
				s.call((i+1)%5, histories.Fail, histories.Release, b)
			}
		},
		"a client that enters again and again": func(s *scribe, n int) {
			for i := range n / 8 {
				var entered []histories.Event
				for range 2 {
					s.attempt++
					e := histories.Event{Attempt: s.attempt, TTL: time.Second, Value: string(histories.Reentrant)}
					s.call(i%5, histories.OK, histories.Acquire, e)
					entered = append(entered, histories.Event{Attempt: s.attempt})
				}
				s.call(i%5, histories.Info, histories.Extend, histories.Event{Attempt: s.attempt, TTL: time.Second})
				for _, e := range entered {
					s.call(i%5, histories.OK, histories.Release, e)
				}
			}
		},
	}
}

// BenchmarkShapes shows how the cost of judging grows: from the smaller to the larger history of a
// shape it should not be more than the size does.
func BenchmarkShapes(b *testing.B) {
	for name, shape := range shapes() {
		for _, n := range []int{20_000, 80_000} {
			var s scribe
			shape(&s, n)
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					Check(b.Context(), s.events, Options{})
				}
			})
		}
	}
}
