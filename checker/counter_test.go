package checker

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/anishathalye/porcupine"

	"github.com/lockbench/lockbench/histories"
)

func TestCounterSafety(t *testing.T) {
	try(t, CounterSafety, []trial{
		{
			name: "ok: one after the other",
			history: `
				A acquire 0 1 ok
				B acquire 1 2 fail
				A incr 3 4 ok value=1
				A release 5 6 ok
				B acquire 7 8 ok
				B incr 9 10 ok value=2
				B read 11 12 ok value=2 version=2`,
			want: Pass, story: "2 increments accepted, and none of them lost.",
		},
		{
			name: "ok: an increment is the last look",
			history: `
				A acquire 0 1 ok
				B acquire 1 2 fail
				A incr 3 4 ok value=1
				A incr 5 6 ok value=2`,
			want: Pass,
		},
		{
			name: "bad: twins",
			history: `
				A acquire 0 1 ok
				B acquire 1 2 ok
				A incr 3 8 ok value=1
				B incr 4 6 ok value=1
				B read 9 10 ok value=1 version=2`,
			want: Fail, story: "A's increment of k at 0.008 s and B's at 0.006 s both brought it to 1. Of 2 increments that were accepted, at least 1 got lost.",
			witness: []string{"6 B incr ok", "8 A incr ok"},
		},
		{
			name: "bad: an increment that nobody sees any more",
			history: `
				A acquire 0 1 ok
				B acquire 1 2 ok
				A incr 3 4 ok value=1
				B incr 5 6 ok value=2
				A read 7 8 ok value=1 version=3`,
			want: Fail, story: "2 increments had been accepted before A looked at k at 0.007 s, and it found 1 where one had brought it to 2",
			witness: []string{"6 B incr ok", "8 A read ok"},
		},
		{
			name: "bad: an unknown increment overwrote others",
			history: `
				C acquire 0 1 ok
				C incr 1 2 info
				A acquire 3 4 ok
				A incr 5 6 ok value=1
				A incr 7 8 ok value=2
				A incr 9 10 ok value=2`,
			want: Fail, story: "at least 1 got lost",
		},
		{
			name: "ok: an unknown increment may count",
			history: `
				A acquire 0 1 ok
				B acquire 1 2 fail
				A incr 3 4 info
				B acquire 5 6 ok
				B incr 7 8 ok value=2
				B read 9 10 ok value=2 version=2`,
			want: Pass,
		},
		{
			name: "ok: a refused increment does not count",
			history: `
				A acquire 0 1 ok
				B acquire 1 2 fail
				A incr 3 4 fail
				A incr 5 6 ok value=1
				A read 7 8 ok value=1 version=1`,
			want: Pass,
		},
		{
			name: "ok: keys are counters of their own",
			history: `
				A acquire 0 1 ok key=x
				B acquire 1 2 fail key=x
				A incr 3 4 ok key=x value=1
				A incr 5 6 ok key=y value=1`,
			want: Pass,
		},
		{
			name: "unknown: nobody looked afterwards",
			history: `
				A acquire 0 1 ok
				B acquire 1 2 fail
				A incr 3 6 ok value=1
				B incr 4 7 ok value=2`,
			want: Unknown, story: "Nobody looked at k after the last increment",
		},
		{
			name: "unknown: no increment",
			history: `
				A acquire 0 1 ok
				B acquire 1 2 fail
				A incr 3 6 info`,
			want: Unknown, story: "No increment is known to have been accepted",
		},
	})
}

func TestBrokenCounter(t *testing.T) {
	for history, want := range map[string]string{
		"A acquire 0 1 ok\nA incr 2 3 ok value=2":                   "the incr of event 3 found 1, but only 0 increments can have counted by then",
		"A acquire 0 1 ok\nA incr 2 3 fail\nA read 4 5 ok value=1":  "the read of event 5 found 1, but only 0 increments",
		"A acquire 0 1 ok\nA incr 2 3 ok value=one":                 `saw "one", want a number`,
		"A acquire 0 1 ok\nA incr 2 3 info\nA incr 4 5 ok value=-1": "",
	} {
		report := Check(t.Context(), script(t, history), Options{})
		if want != "" && (len(report.HarnessErrors) != 1 || !strings.Contains(report.HarnessErrors[0], want)) {
			t.Errorf("%s\nharness errors %q, want %q", history, report.HarnessErrors, want)
		}
		if got := report.Result(CounterSafety).Verdict; got == Pass {
			t.Errorf("%s\npasses", history)
		}
	}
}

// TestCounterAgainstPorcupine compares the bounds with a linearizability checker on small
// random histories: what is linearizable is never accused, and hardly anything that is not
// gets away.
func TestCounterAgainstPorcupine(t *testing.T) {
	illegal, missed := 0, 0
	for seed := range uint64(4000) {
		events := randomCounter(rand.New(rand.NewPCG(1, seed)))
		keys, err := divide(events, Options{})
		if err != nil {
			t.Fatal(err)
		}
		res, err := specOf(t, CounterSafety).of(t.Context(), events, Options{})
		legal := porcupine.CheckOperations(counterModel(), counterOperations(keys[0]))
		switch {
		case legal && (err != nil || res.Verdict == Fail):
			t.Fatalf("seed %d is legal, and judged %v, %v: %s\n%s", seed, res.Verdict, err, res.Story, show(events))
		case !legal:
			illegal++
			if err == nil && res.Verdict != Fail {
				missed++
			}
		}
	}
	t.Logf("%d of 4000 are illegal, of which the bounds miss %d", illegal, missed)
	if illegal < 400 || illegal > 3600 || missed > illegal/20 {
		t.Errorf("%d of 4000 are illegal, of which %d were missed", illegal, missed)
	}
}

// randomCounter is a short history of a counter that sometimes loses an increment.
func randomCounter(rng *rand.Rand) []histories.Event {
	var events []histories.Event
	add := func(e histories.Event) {
		e.Index, e.Key = len(events), "k"
		events = append(events, e)
	}
	type client struct {
		process, seen int
		f             histories.F
	}
	clients := []*client{{process: 0}, {process: 1}, {process: 2}}
	fresh, value := 3, 0
	honest := rng.IntN(2) == 0
	for i := range clients {
		add(histories.Event{Process: i, Worker: i, Type: histories.Invoke, F: histories.Acquire, Attempt: uint64(i + 1)})
		add(histories.Event{Process: i, Worker: i, Type: histories.OK, F: histories.Acquire, Attempt: uint64(i + 1)})
	}
	for range 8 + rng.IntN(16) {
		i := rng.IntN(len(clients))
		c := clients[i]
		e := histories.Event{Process: c.process, Worker: i, F: c.f, Attempt: uint64(i + 1)}
		if c.f == "" {
			if c.f = histories.Incr; rng.IntN(3) == 0 {
				c.f = histories.Read
			}
			c.seen = value
			e.F, e.Type = c.f, histories.Invoke
			add(e)
			continue
		}
		from := c.seen
		if honest || rng.IntN(3) > 0 {
			from = value
		}
		if e.Type = histories.OK; rng.IntN(8) == 0 {
			e.Type = histories.Info
		}
		if c.f == histories.Incr {
			from++
			if e.Type == histories.OK || rng.IntN(2) == 0 {
				value = from
			}
		}
		if e.Type == histories.OK {
			e.Value = strconv.Itoa(from)
		} else {
			c.process, fresh = fresh, fresh+1
		}
		add(e)
		c.f = ""
	}
	return events
}

// counterModel is a counter as a sequential specification.
func counterModel() porcupine.Model {
	return porcupine.Model{
		Init: func() any { return 0 },
		Step: func(state, input, output any) (bool, any) {
			n, f, seen := state.(int), input.(histories.F), output.(string)
			if f == histories.Incr {
				n++
			}
			return seen == "" || seen == strconv.Itoa(n), n
		},
	}
}

// counterOperations leaves out reads of unknown outcome, and lets increments of unknown
// outcome end at the end of time, where nobody looks any more.
func counterOperations(s *stretch) []porcupine.Operation {
	var ops []porcupine.Operation
	for _, o := range s.calls {
		op := porcupine.Operation{Input: o.Invoke.F, Output: o.Complete.Value, Call: int64(o.Invoke.Index), Return: int64(o.Complete.Index)}
		switch {
		case o.Invoke.F != histories.Incr && o.Invoke.F != histories.Read, o.Invoke.F == histories.Read && o.Outcome() != histories.OK:
			continue
		case o.Outcome() == histories.Info:
			op.Return = int64(s.Events) + 1
		}
		ops = append(ops, op)
	}
	return ops
}
