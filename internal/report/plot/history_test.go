package plot_test

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/report"
)

const ms = time.Millisecond

// story writes a history by hand.
type story struct {
	events  []histories.Event
	attempt uint64
}

func (s *story) add(at time.Duration, e histories.Event) {
	e.Index, e.Time = len(s.events), at
	s.events = append(s.events, e)
}

// on is an event of a client that is process and worker n.
func (s *story) on(at time.Duration, n int, t histories.Type, f histories.F, attempt uint64) {
	e := histories.Event{Process: n, Worker: n, Type: t, F: f, Key: "k", Attempt: attempt}
	if f == histories.Acquire && t == histories.Invoke {
		e.TTL = 3 * time.Second
	}
	s.add(at, e)
}

func (s *story) fault(at time.Duration, t histories.Type, f histories.F, node string) {
	s.add(at, histories.Event{Process: histories.Nemesis, Worker: histories.Nemesis, Type: t, F: f, Node: node})
}

func (s *story) run() report.Run { return report.Run{Events: s.events} }

// random is a sound history of n events and more, of clients that ask for keys at random, with
// refusals, unknown outcomes and faults, that lasts as long as it says.
func random(n, clients, keys int, lasts time.Duration) report.Run {
	r := rand.New(rand.NewPCG(1, 2))
	var s story
	type client struct {
		process int
		open    *histories.Event
		holds   bool
		attempt uint64
		key     string
	}
	all := make([]client, clients)
	for i := range all {
		all[i].process = i
	}
	next := clients
	for i := 0; i < n; i++ {
		at := lasts / time.Duration(n) * time.Duration(i)
		if i%(n/20+1) == n/40 {
			s.fault(at, histories.Invoke, "pause", fmt.Sprint("C", i))
			s.fault(at+lasts/time.Duration(n), histories.OK, "pause", fmt.Sprint("C", i))
			continue
		}
		w := r.IntN(clients)
		c := &all[w]
		switch c.open {
		case nil:
			e := histories.Event{Process: c.process, Worker: w, Type: histories.Invoke, F: histories.Acquire, TTL: time.Second}
			if c.holds {
				e.F, e.TTL = []histories.F{histories.Read, histories.Write, histories.Extend, histories.Release}[r.IntN(4)], 0
				e.Key, e.Attempt = c.key, c.attempt
			} else {
				s.attempt++
				c.attempt, c.key = s.attempt, fmt.Sprint("key/", r.IntN(keys))
				e.Key, e.Attempt = c.key, c.attempt
			}
			c.open = &e
			s.add(at, e)
		default:
			e := *c.open
			c.open = nil
			e.TTL, e.Type = 0, histories.OK
			switch p := r.IntN(10); {
			case p < 3:
				e.Type = histories.Fail
			case p < 4:
				e.Type = histories.Info
				c.process = next
				next++
			}
			switch {
			case e.F == histories.Acquire:
				c.holds = e.Type == histories.OK
			case e.F == histories.Release || e.Type == histories.Info:
				c.holds = false
			}
			s.add(at, e)
		}
	}
	return s.run()
}
