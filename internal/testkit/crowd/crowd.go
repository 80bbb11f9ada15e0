// Package crowd writes large histories, for benchmarks and tests: of many clients that want one
// key, whose lock a right server gives.
package crowd

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/lockbench/lockbench/histories"
)

// A Crowd is a big history of one key. Calls overlap, and what a call does takes effect when it
// returns. Events are a microsecond apart.
type Crowd struct {
	Operations, Clients int
	Unknown             float64       // share of the operations that have no known outcome
	Bad                 bool          // it ends with a lock granted twice
	Stuck               bool          // half-way the lock is granted twice, and one of the two keeps it to the end
	Seed                uint64        // of what the clients do
	Start               time.Duration // time of the first event
}

// String is a name for a test.
func (c Crowd) String() string {
	kind := "good"
	switch {
	case c.Bad:
		kind = "bad"
	case c.Stuck:
		kind = "stuck"
	}
	return fmt.Sprintf("%s/ops=%d/clients=%d/unknown=%.0f%%", kind, c.Operations, c.Clients, 100*c.Unknown)
}

// Events are all events.
func (c Crowd) Events() []histories.Event {
	events := make([]histories.Event, 0, 2*c.Operations+8)
	_ = c.Each(func(e histories.Event) error { // which returns no other error
		events = append(events, e)
		return nil
	})
	return events
}

// Each calls add for one event after the other, until it returns an error, and returns that.
func (c Crowd) Each(add func(histories.Event) error) error {
	p := play{Crowd: c, rng: rand.New(rand.NewPCG(7+c.Seed, uint64(c.Clients))), add: add, holder: -1}
	p.clients = make([]client, c.Clients+1) // the last one is for what is stuck
	for w := range p.clients {
		p.clients[w].process = w
	}
	p.fresh = len(p.clients)
	p.run()
	return p.err
}

// A client is one of the crowd.
type client struct {
	process int
	open    histories.F
	attempt uint64
	holds   bool // or may hold, and will release
}

// A play is a Crowd that is being written.
type play struct {
	Crowd
	rng     *rand.Rand
	add     func(histories.Event) error
	err     error
	clients []client
	events  int
	fresh   int // process
	attempt uint64
	holder  int // worker; -1: nobody
}

func (p *play) run() {
	stuck := p.Stuck
	for ops := 0; ops < p.Operations && p.err == nil; {
		if stuck && ops >= p.Operations/2 && p.holder >= 0 {
			p.invoke(p.Clients, histories.Acquire)
			p.complete(p.Clients, histories.OK)
			stuck = false
		}
		w := p.rng.IntN(p.Clients)
		if p.holder >= 0 && p.rng.IntN(3) == 0 {
			w = p.holder
		}
		if p.step(w, p.rng.Float64() < p.Unknown) {
			ops++
		}
	}
	for w := range p.clients {
		if p.clients[w].open != "" {
			p.complete(w, histories.Info)
		}
	}
	for w := range 2 {
		if p.Bad {
			p.invoke(w, histories.Acquire)
			p.complete(w, histories.OK)
		}
	}
}

// step makes a worker begin a call, or end that which it has begun, with an answer or without. It
// says whether it began one.
func (p *play) step(w int, lost bool) bool {
	me := &p.clients[w]
	answer := func(kind histories.Type) {
		if lost {
			kind = histories.Info
		}
		p.complete(w, kind)
	}
	switch {
	case me.open == "" && me.holds:
		p.invoke(w, histories.Release)
		return true
	case me.open == "":
		p.invoke(w, histories.Acquire)
		return true
	case me.open == histories.Release:
		me.holds = false
		if p.holder == w {
			p.holder = -1
		}
		answer(histories.OK)
	case p.holder >= 0:
		answer(histories.Fail)
	default:
		// Of those who do not know that they have it half find out by their release.
		if !lost || p.rng.IntN(2) == 0 {
			p.holder, me.holds = w, true
		}
		answer(histories.OK)
	}
	return false
}

func (p *play) invoke(w int, f histories.F) {
	if f == histories.Acquire {
		p.attempt++
		p.clients[w].attempt = p.attempt
	}
	p.clients[w].open = f
	p.record(w, histories.Invoke, f)
}

func (p *play) complete(w int, kind histories.Type) {
	p.record(w, kind, p.clients[w].open)
	p.clients[w].open = ""
	if kind == histories.Info {
		p.clients[w].process, p.fresh = p.fresh, p.fresh+1
	}
}

func (p *play) record(w int, kind histories.Type, f histories.F) {
	if p.err != nil {
		return
	}
	at := p.Start + time.Duration(p.events)*time.Microsecond
	e := histories.Event{
		Index: p.events, Time: at, Process: p.clients[w].process, Worker: w,
		Type: kind, F: f, Key: "orders/42", Attempt: p.clients[w].attempt,
	}
	switch {
	case f == histories.Acquire && kind == histories.Invoke:
		e.TTL = 10 * time.Second
	case f == histories.Acquire && kind == histories.OK:
		e.Deadline = at + 9*time.Second
	}
	p.events++
	p.err = p.add(e)
}
