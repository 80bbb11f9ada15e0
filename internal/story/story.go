// Package story is what happened in a run, as far as its record shows: who believed to hold what and until when, who believed it at
// the same time as another, what went wrong meanwhile, and which commands each call sent. Texts, pictures, pages and demonstrations of
// a run take it from here, so that they cannot tell different stories of it.
package story

import (
	"sync"

	"github.com/lockbench/lockbench/histories"
)

// A Story is one run. It finds each part when it is first asked for, and keeps it. It may be shared by goroutines.
type Story struct {
	Events    []histories.Event
	Exchanges []histories.Exchange

	operations func() []histories.Op
	beliefs    func() []Belief
	faults     func() []Fault
	keys       func() map[string]bool
	of         func() map[int]int      // places of operations, by their events
	sentBy     func() map[string][]int // places of exchanges, by their clients, in the order in which they were sent
}

// Of returns the story of events, and of the commands that were recorded beside them. Of a history that does not pair it tells as much
// as does. Neither slice may change as long as the story is used.
func Of(events []histories.Event, exchanges []histories.Exchange) *Story {
	s := &Story{Events: events, Exchanges: exchanges}
	s.operations = sync.OnceValue(func() []histories.Op {
		all, _ := histories.Pair(events)
		return all
	})
	s.beliefs = sync.OnceValue(func() []Belief { return beliefs(events) })
	s.faults = sync.OnceValue(func() []Fault { return faults(s.operations()) })
	s.keys = sync.OnceValue(func() map[string]bool {
		keys := map[string]bool{}
		for i := range events {
			if key := events[i].Key; key != "" {
				keys[key] = true
			}
		}
		return keys
	})
	s.of = sync.OnceValue(func() map[int]int {
		of := map[int]int{}
		for i, o := range s.operations() {
			of[o.Invoke.Index] = i
			if o.Done {
				of[o.Complete.Index] = i
			}
		}
		return of
	})
	s.sentBy = sync.OnceValue(func() map[string][]int { return sentBy(exchanges) })
	return s
}

// Operations are the calls and the faults, in the order of their invocations.
func (s *Story) Operations() []histories.Op { return s.operations() }

// Operation is the one that an event begins or ends.
func (s *Story) Operation(event int) (o histories.Op, ok bool) {
	i, ok := s.of()[event]
	if !ok {
		return o, false
	}
	return s.operations()[i], true
}

// Beliefs are those of all clients, in the order in which they asked for the lock.
func (s *Story) Beliefs() []Belief { return s.beliefs() }

// Faults are those that began, in that order.
func (s *Story) Faults() []Fault { return s.faults() }

// Keys are those that events name.
func (s *Story) Keys() map[string]bool { return s.keys() }

// Is reports whether s is the story of these very events and commands.
func (s *Story) Is(events []histories.Event, exchanges []histories.Exchange) bool {
	return same(s.Events, events) && same(s.Exchanges, exchanges)
}

// same reports whether two slices are one.
func same[T any](a, b []T) bool { return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) }
