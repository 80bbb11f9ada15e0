package checker

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/testkit/crowd"
	"github.com/lockbench/lockbench/internal/testkit/effort"
)

// TestCut checks that a history that is cut into stretches is judged as it is whole.
func TestCut(t *testing.T) {
	n := effort.Count(300, 20_000)
	cuts := 0
	verdicts := make(map[string]int)
	for i := range n {
		rng := rand.New(rand.NewPCG(11, uint64(i)))
		c := crowd.Crowd{Operations: 40 + rng.IntN(120), Clients: 2 + rng.IntN(4), Unknown: []float64{0, 0.02, 0.1}[rng.IntN(3)], Seed: uint64(i)}
		events := c.Events()
		if i%2 == 0 {
			events = longer(uint64(i))
		}
		if rng.IntN(2) == 0 {
			damage(rng, events)
		}
		parts, err := divide(events, Options{spared: 6, Slack: time.Millisecond})
		if err != nil {
			t.Fatalf("history %d: %v", i, err)
		}
		cuts += len(parts) - 1
		whole, cut := Check(t.Context(), events, Options{spared: math.MaxInt, Slack: time.Millisecond}), Check(t.Context(), events, Options{spared: 6, Slack: time.Millisecond})
		for _, want := range whole.Results {
			got := cut.Result(want.Property)
			verdicts[fmt.Sprint(want.Property, " ", want.Verdict)]++
			// Of several doubts any may be told, and of a counter's losses; who wrote a version may be forgotten.
			told := want.Verdict == Unknown || want.Property == CounterSafety || want.Property == ResourceSafety || got.Story == want.Story
			proof := want.Witness
			switch want.Property {
			case CounterSafety:
				proof = got.Witness
			case ResourceSafety:
				proof = slices.DeleteFunc(slices.Clone(proof), func(event int) bool { return !slices.Contains(got.Witness, event) })
			}
			if got.Verdict != want.Verdict || !slices.Equal(got.Witness, proof) || !told {
				t.Errorf("history %d, %s: cut %v %v %s\nwhole %v %v %s", i, want.Property, got.Verdict, got.Witness, got.Story, want.Verdict, want.Witness, want.Story)
			}
		}
		if t.Failed() {
			t.Fatal(show(events))
		}
	}
	t.Logf("%d histories, cut %d times: %v", n, cuts, verdicts)
	if cuts < 5*n {
		t.Errorf("%d histories were cut %d times, which says little", n, cuts)
	}
}

// TestSweep checks that a history of many keys, of which the free ones are forgotten, is judged as it is
// whole, but that what was called for attempts that were forgotten makes a pass unknown, and that waiting is
// measured by the longest lease of all keys that were forgotten.
func TestSweep(t *testing.T) {
	n := effort.Count(30, 2_000)
	cuts, forgot, unknowns := 0, 0, 0
	for i := range n {
		rng := rand.New(rand.NewPCG(12, uint64(i)))
		var all [][]histories.Event
		for j := range 5 {
			events := longer(uint64(5*i + j))
			if rng.IntN(4) == 0 {
				damage(rng, events)
			}
			all = append(all, events)
		}
		events := together(all)
		swept := Options{roomy: 4, Slack: time.Millisecond}
		d := newDivider(swept, func(*stretch) { cuts++ })
		d.slept = func(string) { forgot++ }
		for j := range events {
			d.add(&events[j])
		}
		whole, cut := Check(t.Context(), events, Options{roomy: math.MaxInt / 2, Slack: time.Millisecond}), Check(t.Context(), events, swept)
		for _, want := range whole.Results {
			got := cut.Result(want.Property)
			late := got.Verdict == Unknown && want.Property == TruthfulReplies
			patient := got.Verdict != Fail && want.Property == DeadlockFreedom
			if got.Verdict != want.Verdict && (late || patient) {
				unknowns++
				continue
			}
			if got.Verdict != want.Verdict {
				t.Fatalf("history %d, %s: swept %v %v %s\nwhole %v %v %s\n%s", i, want.Property, got.Verdict, got.Witness, got.Story, want.Verdict, want.Witness, want.Story, show(events))
			}
		}
	}
	t.Logf("%d histories, cut %d times, %d keys forgotten, %d answers unknown", n, cuts, forgot, unknowns)
	if cuts < 2*n || forgot < n/5 || unknowns > n/10 {
		t.Errorf("%d histories were cut %d times, and %d keys were forgotten, with %d unknown, which says little", n, cuts, forgot, unknowns)
	}
}

// together merges histories of different clients and keys. The faults are those of the first.
func together(all [][]histories.Event) []histories.Event {
	var events []histories.Event
	for i, of := range all {
		for _, e := range of {
			if e.Process == histories.Nemesis && e.F != histories.Audit && i > 0 {
				continue
			}
			if e.Key != "" {
				e.Key += strconv.Itoa(i)
			}
			if e.Process != histories.Nemesis {
				e.Process, e.Worker = e.Process+1000*i, e.Worker+10*i
			}
			if e.Attempt != 0 {
				e.Attempt += uint64(10_000 * i)
			}
			events = append(events, e)
		}
	}
	slices.SortStableFunc(events, func(a, b histories.Event) int { return int(a.Time - b.Time) })
	for i := range events {
		events[i].Index = i
	}
	return events
}

// TestLateCall checks that nothing passes because of a call that came when its attempt was forgotten.
func TestLateCall(t *testing.T) {
	history, now := "", 0
	for range 20 {
		for _, who := range "ABC" {
			history += fmt.Sprintf("%[1]c acquire %[2]d %[3]d ok ttl=10\n%[1]c release %[4]d %[5]d ok\n", who, now, now+1, now+2, now+3)
			now += 4
		}
	}
	history += fmt.Sprintf("A release %d %d ok attempt=1", now, now+1)
	events := script(t, history)
	for spared, want := range map[int]Verdict{math.MaxInt: Fail, 6: Unknown} {
		if got := Check(t.Context(), events, Options{spared: spared}).Result(TruthfulReplies); got.Verdict != want {
			t.Errorf("%d spared: %v, want %v: %s", spared, got.Verdict, want, got.Story)
		}
	}
}

// damage changes a few answers of a history.
func damage(rng *rand.Rand, events []histories.Event) {
	for range 1 + rng.IntN(3) {
		e := &events[rng.IntN(len(events))]
		switch e.Type {
		case histories.OK:
			e.Type, e.Deadline = histories.Fail, 0
		case histories.Fail:
			e.Type = histories.OK
		}
	}
}

// A bench of clients that use one lock as they should, on a server that does what it says.
type clients struct {
	rng    *rand.Rand
	events []histories.Event
	now    time.Duration
	mode   func(worker int) histories.Mode
	all    []*client
	lost   float64 // share of the answers

	attempts uint64
	process  int
	sick     bool
	held     map[uint64]*entry // by attempt
	tokens   int64
	version  int64
	counter  int64
	loses    bool // increments
	counts   bool // what the lock protects is a counter, and no register
	key      string
}

type entry struct {
	worker int
	mode   histories.Mode
	until  time.Duration
}

type client struct {
	worker, process int
	open            *histories.Event // its call
	attempt         uint64           // that it has, or may have
	token           int64
	ttl             time.Duration
}

func (c *clients) play(n int) []histories.Event {
	for len(c.events) < n {
		c.now += time.Duration(c.rng.IntN(3000)) * time.Microsecond
		if c.rng.IntN(40) == 0 {
			c.now += 30 * time.Millisecond
		}
		if c.rng.IntN(60) == 0 && c.lost > 0 {
			c.fault()
			continue
		}
		if cl := c.all[c.rng.IntN(len(c.all))]; cl.open != nil {
			c.answer(cl)
		} else {
			c.call(cl)
		}
	}
	return c.events
}

func (c *clients) fault() {
	kind := histories.Invoke
	if c.sick {
		kind = histories.OK
	}
	c.sick = !c.sick
	c.record(histories.Event{Process: histories.Nemesis, Type: kind, F: "restart", Node: "m"})
}

func (c *clients) record(e histories.Event) {
	e.Index, e.Time = len(c.events), c.now
	c.events = append(c.events, e)
}

// call makes a client that has no call under way do something.
func (c *clients) call(cl *client) {
	e := histories.Event{Process: cl.process, Worker: cl.worker, Type: histories.Invoke, Key: c.key, Attempt: cl.attempt}
	switch mode, dice := c.mode(cl.worker), c.rng.IntN(20); {
	case cl.attempt == 0:
		c.attempts++
		cl.attempt, cl.ttl = c.attempts, time.Duration(5+c.rng.IntN(25))*time.Millisecond
		if c.attempts == 1 { // judges ask for the longest lease so far
			cl.ttl = 30 * time.Millisecond
		}
		e.F, e.Attempt, e.TTL, e.Value = histories.Acquire, cl.attempt, cl.ttl, string(mode)
	case dice < 3:
		e.F, e.TTL = histories.Extend, cl.ttl
	case dice < 6:
		e.F, e.Token = histories.Read, cl.token
	case dice < 10 && c.counts:
		e.F, e.Token = histories.Incr, cl.token
	case dice < 10:
		e.F, e.Token = histories.Write, cl.token
	case dice == 10:
		e.Type, e.F = histories.Info, histories.Abandon
		c.record(e)
		cl.attempt = 0
		return
	case dice == 11:
		e.Type, e.F, e.Attempt, e.Key = histories.Info, histories.Crash, 0, ""
		c.record(e)
		c.retire(cl)
		cl.attempt = 0
		return
	default:
		e.F = histories.Release
	}
	c.record(e)
	cl.open = &e
}

func (c *clients) retire(cl *client) {
	cl.process, c.process = c.process, c.process+1
}

// answer lets the call of a client take effect, and answers it, if it does.
func (c *clients) answer(cl *client) {
	e := *cl.open
	cl.open, e.TTL, e.Token = nil, 0, 0
	for attempt, h := range c.held {
		if h.until <= c.now {
			delete(c.held, attempt)
		}
	}
	e.Type = histories.OK
	mine := c.held[e.Attempt]
	switch {
	case e.F == histories.Acquire:
		c.acquire(cl, &e)
	case (e.F == histories.Release || e.F == histories.Extend) && mine == nil:
		e.Type = histories.Fail
	case e.F == histories.Release:
		delete(c.held, e.Attempt)
	case e.F == histories.Extend:
		mine.until, e.Deadline = c.now+cl.ttl, c.now+cl.ttl
	case e.F == histories.Read && c.counts:
		e.Value, e.Token = strconv.FormatInt(c.counter, 10), cl.token
	case e.F == histories.Read:
		e.Version, e.Token = c.version, cl.token
	case e.F == histories.Write:
		e.Version, e.Token = c.version, cl.token
		c.version++
	case e.F == histories.Incr:
		if c.rng.IntN(30) > 0 || !c.loses { // or another has counted at the same time
			c.counter++
		}
		c.counter = max(c.counter, 1)
		e.Value, e.Token = strconv.FormatInt(c.counter, 10), cl.token
	}
	released := e.F == histories.Release
	if c.rng.Float64() < c.lost {
		e.Type, e.Token, e.Deadline, e.Version = histories.Info, 0, 0, 0
		if e.F == histories.Incr || e.F == histories.Read {
			e.Value = ""
		}
		defer c.retire(cl)
	}
	c.record(e)
	if released || e.F == histories.Acquire && (e.Type == histories.Fail || e.Type == histories.Info && c.rng.IntN(2) == 0) {
		cl.attempt = 0
	}
}

func (c *clients) acquire(cl *client, e *histories.Event) {
	mode := c.mode(cl.worker)
	for _, h := range c.held {
		if h.mode != mode || mode == histories.Exclusive || mode == histories.Reentrant && h.worker != cl.worker {
			e.Type = histories.Fail
			return
		}
	}
	c.tokens++
	c.held[e.Attempt] = &entry{cl.worker, mode, c.now + cl.ttl}
	cl.token = c.tokens
	e.Token, e.Deadline = c.tokens, c.now+cl.ttl
}

// longer are longer histories, of all that clients do.
func longer(seed uint64) []histories.Event {
	rng := rand.New(rand.NewPCG(13, seed))
	c := &clients{rng: rng, key: "k", held: make(map[uint64]*entry), lost: []float64{0, 0.02, 0.1}[rng.IntN(3)]}
	c.counts, c.loses = rng.IntN(3) == 0, rng.IntN(2) == 0
	modes := [][]histories.Mode{{histories.Exclusive}, {histories.Exclusive, histories.Shared, histories.Shared}, {histories.Reentrant}}[rng.IntN(3)]
	c.mode = func(worker int) histories.Mode { return modes[worker%len(modes)] }
	for range 2 + rng.IntN(3) {
		cl := &client{worker: len(c.all)}
		c.retire(cl)
		c.all = append(c.all, cl)
	}
	return c.play(100 + rng.IntN(300))
}
