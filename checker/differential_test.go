package checker

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/testkit/effort"
)

// TestDifferential compares every way of deciding mutual exclusion that there is on
// small random histories: the interval engine and porcupine on the reduced history,
// porcupine with short calls, porcupine on the whole history with its unknown outcomes, and
// the definition of each reading, read out at every instant.
func TestDifferential(t *testing.T) {
	const seed = 20250101
	n := effort.Count(10_000, 50_000)
	readings := map[string]struct {
		sections reading
		holders  func([]histories.Event, int) map[uint64]bool // at an instant, as the definition has it
		ends     ends
	}{
		"strict": {strictSections, func(events []histories.Event, instant int) map[uint64]bool { return believers(events, false, instant) }, ends{}},
		"lease":  {leaseSections, func(events []histories.Event, instant int) map[uint64]bool { return believers(events, true, instant) }, ends{told: true}},
		"served": {servedSections, owed, ends{asked: true}},
	}
	illegal := map[string]int{}
	for i := range n {
		rng := rand.New(rand.NewPCG(seed, uint64(i)))
		events := randomHistory(rng)
		keys, err := divide(events, Options{})
		if err != nil {
			t.Fatalf("history %d of seed %d is no history: %v", i, seed, err)
		}
		for name, r := range readings {
			sections := r.sections(keys[0])
			overlaps := sweep(sections).n
			says := map[string]bool{
				"interval engine":  overlaps == 0,
				"porcupine engine": linearizable(t.Context(), sections, 0) == porcupine.Ok,
				"short calls":      porcupine.CheckOperations(mutex(t.Context()), appendPlain(nil, short(sections, operations(sections)))),
				"definition":       excludes(events, r.ends, r.holders),
			}
			if name == "strict" {
				says["plain porcupine"] = plain(events)
			}
			for who, legal := range says {
				if legal != says["interval engine"] {
					t.Fatalf("history %d of seed %d, %s reading: %s says %v: %v\n%s", i, seed, name, who, legal, says, show(events))
				}
			}
			if overlaps > 0 {
				illegal[name]++
			}
		}
	}
	t.Logf("%d histories, illegal: %v", n, illegal)
	for name := range readings {
		if bad := illegal[name]; bad < n/10 || bad > n*9/10 {
			t.Errorf("%s: %d of %d histories are illegal, so the comparison says little", name, bad, n)
		}
	}
}

// TestBeginnings checks that no beginning of a piece is accused whose whole is legal, and that
// one that is illegal is accused by then.
func TestBeginnings(t *testing.T) {
	const seed = 20250103
	n := effort.Count(1_500, 5_000)
	accused := 0
	for i := range n {
		keys, err := divide(randomHistory(rand.New(rand.NewPCG(seed, uint64(i)))), Options{})
		if err != nil {
			t.Fatal(err)
		}
		sections := strictSections(keys[0])
		ops := operations(sections)
		whole := porcupine.CheckOperations(mutex(t.Context()), appendPlain(nil, ops))
		for first := 1; first <= len(ops); first++ {
			legal := porcupine.CheckOperations(mutex(t.Context()), appendPlain(nil, begun(ops, first)))
			if whole && !legal || first == len(ops) && legal != whole {
				t.Fatalf("history %d of seed %d is legal: %v, but the sections of its first %d operations: %v", i, seed, whole, first, legal)
			}
			if !legal && first < len(ops) {
				accused++
			}
		}
	}
	if accused < n/2 {
		t.Errorf("%d beginnings were accused, too few to say anything", accused)
	}
}

// TestLongPiece judges sections that cannot be cut: somebody keeps the lock from the start
// on, and others are granted it early, late or never.
func TestLongPiece(t *testing.T) {
	const n = 2_000
	for _, intruder := range []int{0, 10, n - 1, n} {
		for _, mode := range []histories.Mode{histories.Exclusive, histories.Shared} {
			reader := &histories.Hold{Mode: histories.Shared}
			all := []section{{hold: reader, call: 1, granted: 3, end: never}}
			for i := range n {
				hold := reader
				if i == intruder {
					hold = &histories.Hold{Mode: mode, Attempt: 1}
				}
				from := rank(10 + 10*i)
				all = append(all, section{hold: hold, call: from, granted: from + 3, end: from + 5, bound: from + 6})
			}
			want := porcupine.Ok
			if intruder < n && mode == histories.Exclusive {
				want = porcupine.Illegal
			}
			if got := linearizable(t.Context(), all, time.Minute); got != want {
				t.Errorf("intruder %d of mode %q: %v, want %v", intruder, mode, got, want)
			}
		}
	}
}

// randomHistory is a short history of one key. A lock that is usually right decides who is
// granted it; every outcome may be unknown. Times have many ties.
func randomHistory(rng *rand.Rand) []histories.Event {
	g := &generator{rng: rng, trust: rng.Float64()}
	workers := 2 + rng.IntN(3)
	for w := range workers {
		g.clients = append(g.clients, &randomClient{worker: w, process: w})
	}
	g.processes = workers
	for range 6 + rng.IntN(20) {
		g.now += time.Duration(rng.IntN(3))
		g.act(g.clients[rng.IntN(workers)])
	}
	return g.events
}

type generator struct {
	rng       *rand.Rand
	trust     float64 // how often the lock is right
	now       time.Duration
	events    []histories.Event
	clients   []*randomClient
	processes int
	attempts  uint64
	holder    uint64 // as the lock sees it
}

type randomClient struct {
	worker, process int
	open            histories.F // call in flight
	attempt         uint64
	granted         bool // the acquire answered OK
	tried           bool // the acquire has completed, and was not refused
	freed           bool // a release answered OK
}

func (g *generator) record(c *randomClient, f histories.F, kind histories.Type) *histories.Event {
	g.events = append(g.events, histories.Event{
		Index: len(g.events), Time: g.now, Process: c.process, Worker: c.worker, Type: kind, F: f, Key: "k", Attempt: c.attempt,
	})
	return &g.events[len(g.events)-1]
}

func (g *generator) deadline() time.Duration {
	if g.rng.IntN(4) == 0 {
		return 0
	}
	return max(1, g.now-2+time.Duration(g.rng.IntN(12)))
}

func (g *generator) retire(c *randomClient) {
	c.process, c.open = g.processes, ""
	g.processes++
}

func (g *generator) act(c *randomClient) {
	switch {
	case g.rng.IntN(40) == 0:
		g.record(c, histories.Crash, histories.Info)
		*c = randomClient{worker: c.worker}
		g.retire(c)
	case c.open != "":
		g.complete(c)
	case c.tried:
		g.goOn(c)
	default:
		g.attempts++
		*c = randomClient{worker: c.worker, process: c.process, attempt: g.attempts}
		c.open = histories.Acquire
		// The lease is certain for 1 to 12 ns, when the drift is taken off.
		g.record(c, c.open, histories.Invoke).TTL = 2_020_203 + time.Duration(g.rng.IntN(12))
	}
}

// goOn takes the next step of a client that holds the lock, or may hold it.
func (g *generator) goOn(c *randomClient) {
	switch n := g.rng.IntN(10); {
	case n == 0:
		g.record(c, histories.Lost, histories.Info)
	case n == 1:
		g.record(c, histories.Abandon, histories.Info)
		c.tried = false
	case n < 4 && c.granted:
		c.open = histories.Extend
		g.record(c, c.open, histories.Invoke)
	case n == 4:
		c.tried = false // walks away without saying so
	default:
		c.open = histories.Release
		g.record(c, c.open, histories.Invoke)
	}
}

func (g *generator) complete(c *randomClient) {
	f := c.open
	right := g.rng.Float64() < g.trust
	outcome := histories.OK
	switch {
	case g.rng.IntN(6) == 0:
		outcome = histories.Info
	case f == histories.Acquire && right && g.holder != 0,
		f == histories.Release && right && g.holder != c.attempt,
		f == histories.Release && c.freed, // nobody deletes twice
		!right && g.rng.IntN(3) == 0:
		outcome = histories.Fail
	}
	e := g.record(c, f, outcome)
	c.open = ""
	happened := outcome == histories.OK || outcome == histories.Info && g.rng.IntN(2) == 0
	switch f {
	case histories.Acquire:
		c.tried, c.granted = outcome != histories.Fail, outcome == histories.OK
		if happened {
			g.holder = c.attempt
		}
	case histories.Release:
		c.freed = c.freed || outcome == histories.OK
		if happened && g.holder == c.attempt {
			g.holder = 0
		}
		c.tried = g.rng.IntN(3) == 0 // it may release once more
	}
	if outcome == histories.OK && f != histories.Release {
		e.Deadline = g.deadline()
	}
	if outcome == histories.Info {
		g.retire(c)
	}
}

// ends are what ends a hold by itself: the deadline that was told, or the lease that was asked for.
type ends struct{ told, asked bool }

// first is the first instant at which the hold of an attempt that was asked for at an event can be over,
// if it was answered at another.
func (n ends) first(events []histories.Event, from, to int) int {
	acquire := &events[from]
	until := time.Duration(math.MaxInt64)
	switch {
	case n.told && events[to].Deadline > 0:
		until = events[to].Deadline
	case n.asked:
		until = acquire.Time + acquire.TTL - acquire.TTL/100 - 2*time.Millisecond
	}
	for i := from + 1; i <= to; i++ {
		e := &events[i]
		mine := e.Attempt == acquire.Attempt
		switch {
		case e.Time >= until:
			return 2 * i
		case mine && (e.F == histories.Lost || e.F == histories.Release && e.Type == histories.Invoke),
			!n.asked && (mine && e.F == histories.Abandon || e.F == histories.Crash && e.Worker == acquire.Worker):
			return 2*i + 1
		}
	}
	return 2*to + 1
}

// excludes reads the definition out: no two attempts hold the key at any instant, and an
// attempt that surfaced finds a free instant inside the release that proved it, or, of leases,
// between their end and that; or, if its hold was over when its acquire returned, between its end and that.
func excludes(events []histories.Event, ended ends, holders func([]histories.Event, int) map[uint64]bool) bool {
	// Instants are just before (2i) and just after (2i+1) event i.
	for instant := range 2 * len(events) {
		if len(holders(events, instant)) > 1 {
			return false
		}
	}
	unknown, surfaced := map[uint64]bool{}, map[uint64]bool{}
	invoked, asked := map[int]int{}, map[uint64]int{} // by process, and by attempt
	free := func(from, to int) bool {                 // at some instant
		for instant := from; instant <= to; instant++ {
			if len(holders(events, instant)) == 0 {
				return true
			}
		}
		return false
	}
	for i, e := range events {
		switch {
		case e.F == histories.Acquire && e.Type == histories.Invoke:
			unknown[e.Attempt], asked[e.Attempt] = true, i
		case e.F == histories.Acquire && e.Type == histories.OK:
			unknown[e.Attempt] = false
			from := max(2*asked[e.Attempt]+1, ended.first(events, asked[e.Attempt], i))
			if over := !holders(events, 2*i+1)[e.Attempt]; over && !free(from, 2*i) {
				return false
			}
		case e.F == histories.Acquire && e.Type != histories.Info:
			unknown[e.Attempt] = false
		case e.F == histories.Release && e.Type == histories.Invoke:
			invoked[e.Process] = i
		case e.F == histories.Release && e.Type == histories.OK && unknown[e.Attempt] && !surfaced[e.Attempt]:
			surfaced[e.Attempt] = true
			from := 2*invoked[e.Process] + 1
			if ended.asked {
				from = max(2*asked[e.Attempt]+1, ended.first(events, asked[e.Attempt], i))
			}
			if !free(from, 2*i) {
				return false
			}
		}
	}
	return true
}

// believers are the attempts whose holders believe that they have the key; with lease, not
// beyond the deadline that they were told.
func believers(events []histories.Event, lease bool, instant int) map[uint64]bool {
	told := map[uint64]time.Duration{}
	believes := map[uint64]bool{}
	worker := map[uint64]int{}
	last := (instant - 1) / 2 // event; of instant 0 there is none
	if instant == 0 {
		return believes
	}
	for _, e := range events[:last+1] {
		switch {
		case e.F == histories.Acquire && e.Type == histories.Invoke:
			worker[e.Attempt] = e.Worker
		case e.F == histories.Acquire && e.Type == histories.OK:
			believes[e.Attempt], told[e.Attempt] = true, e.Deadline
		case e.F == histories.Extend && e.Type == histories.OK && believes[e.Attempt]:
			told[e.Attempt] = e.Deadline
		case e.F == histories.Release && e.Type == histories.Invoke, e.F == histories.Lost, e.F == histories.Abandon:
			delete(believes, e.Attempt)
		case e.F == histories.Crash:
			for a := range believes {
				if worker[a] == e.Worker {
					delete(believes, a)
				}
			}
		}
	}
	if lease {
		// Just before an event, every deadline that is not later has passed. Just after
		// one, only those that had passed before it or at it.
		now := events[min(instant/2, len(events)-1)].Time
		for a := range believes {
			if d := told[a]; d != 0 && d <= now {
				delete(believes, a)
			}
		}
	}
	return believes
}

// owed are the attempts of which the server owes the key to somebody: granted, not given
// back nor told to be lost, and the lease that was asked for certainly runs.
func owed(events []histories.Event, instant int) map[uint64]bool {
	owes := map[uint64]bool{}
	if instant == 0 {
		return owes
	}
	ttl, until := map[uint64]time.Duration{}, map[uint64]time.Duration{}
	asked := map[int]time.Duration{} // by process, when it made its call
	given := map[uint64]bool{}
	for _, e := range events[:(instant-1)/2+1] {
		switch {
		case e.F == histories.Acquire && e.Type == histories.Invoke:
			asked[e.Process], ttl[e.Attempt] = e.Time, e.TTL
		case e.F == histories.Extend && e.Type == histories.Invoke:
			asked[e.Process] = e.Time
		case e.F == histories.Acquire && e.Type == histories.OK, e.F == histories.Extend && e.Type == histories.OK:
			owes[e.Attempt] = !given[e.Attempt]
			until[e.Attempt] = asked[e.Process] + ttl[e.Attempt] - ttl[e.Attempt]/100 - 2*time.Millisecond
		case e.F == histories.Release && e.Type == histories.Invoke, e.F == histories.Lost:
			given[e.Attempt], owes[e.Attempt] = true, false
		}
	}
	now := events[min(instant/2, len(events)-1)].Time // see believers
	maps.DeleteFunc(owes, func(a uint64, owed bool) bool { return !owed || until[a] <= now })
	return owes
}

// plain decides the strict reading by porcupine on every operation of the history.
// An operation of unknown outcome never returns. It may take effect before a synthetic
// END, and does nothing after it. Every end of a belief but an accepted release is such an
// operation, since the definition says when a belief ends and not when the lock is free.
func plain(events []histories.Event) bool {
	type input struct {
		f       histories.F
		attempt uint64
		unknown bool
	}
	type state struct {
		holder uint64
		ended  bool
	}
	const end histories.F = "END"
	model := porcupine.Model{
		Init: func() any { return state{} },
		Step: func(s, in, _ any) (bool, any) {
			st, op := s.(state), in.(input)
			switch {
			case op.f == end:
				return true, state{st.holder, true}
			case op.unknown && st.ended:
				return true, st
			case op.f == histories.Acquire:
				return st.holder == 0, state{op.attempt, st.ended}
			default:
				return st.holder == op.attempt, state{0, st.ended}
			}
		},
	}

	ops, _ := histories.Pair(events)
	outcome := map[uint64]histories.Type{}
	for _, o := range ops {
		if o.Invoke.F == histories.Acquire {
			outcome[o.Invoke.Attempt] = o.Outcome()
		}
	}
	const unbounded = math.MaxInt64
	history := []porcupine.Operation{{Input: input{f: end}, Call: int64(len(events)), Return: int64(len(events)) + 1}}
	add := func(in input, call, returned int64) {
		history = append(history, porcupine.Operation{Input: in, Call: call, Return: returned})
	}
	released := map[int]histories.Op{}
	worker := map[uint64]int{}
	for _, o := range ops {
		in := input{f: o.Invoke.F, attempt: o.Invoke.Attempt}
		switch {
		case o.Invoke.F == histories.Release:
			released[o.Invoke.Index] = o
		case o.Invoke.F != histories.Acquire || o.Outcome() == histories.Fail:
		case o.Outcome() == histories.OK:
			worker[o.Invoke.Attempt] = o.Invoke.Worker
			add(in, int64(o.Invoke.Index), int64(o.Complete.Index))
		default:
			in.unknown = true
			add(in, int64(o.Invoke.Index), unbounded)
		}
	}
	ended := map[uint64]bool{}
	believedEnd := func(attempt uint64, o histories.Op, index int) {
		if ended[attempt] {
			return
		}
		ended[attempt] = true
		in := input{f: histories.Release, attempt: attempt}
		if o.Outcome() == histories.OK {
			add(in, int64(index), int64(o.Complete.Index))
			return
		}
		in.unknown = true
		add(in, int64(index), unbounded)
	}
	for i, e := range events {
		o := released[i]
		in := input{f: histories.Release, attempt: e.Attempt}
		switch release := e.F == histories.Release && e.Type == histories.Invoke; {
		case e.F == histories.Crash:
			for attempt, w := range worker {
				granted := false
				for _, g := range events[:i] {
					granted = granted || g.F == histories.Acquire && g.Type == histories.OK && g.Attempt == attempt
				}
				if w == e.Worker && granted {
					believedEnd(attempt, o, i)
				}
			}
		case !release && e.F != histories.Lost && e.F != histories.Abandon:
		case outcome[e.Attempt] == histories.OK:
			believedEnd(e.Attempt, o, i)
		case outcome[e.Attempt] == histories.Info && release && o.Outcome() == histories.OK:
			add(in, int64(i), int64(o.Complete.Index))
		case outcome[e.Attempt] == histories.Info && release && o.Outcome() == histories.Info:
			in.unknown = true
			add(in, int64(i), unbounded)
		}
	}
	return porcupine.CheckOperations(model, history)
}

// show writes a history for people.
func show(events []histories.Event) string {
	var b strings.Builder
	for _, e := range events {
		fmt.Fprintf(&b, "%d: %d %s/%d %s %v attempt %d deadline %d\n", e.Index, e.Time, histories.WorkerName(e.Worker), e.Process, e.F, e.Type, e.Attempt, e.Deadline)
	}
	return b.String()
}
