package histories

import (
	"encoding/binary"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestPair(t *testing.T) {
	var b builder
	a, c := b.client(0, 0), b.client(1, 1)
	a.attempt, c.attempt = 1, 2
	kill := Event{Process: Nemesis, F: "kill", Node: "redis-1"}
	cut := Event{Process: Nemesis, F: "cut", Node: "redis-1"}

	ai := a.on(Invoke, Acquire)
	ci := c.on(Invoke, Acquire)
	killed := b.add(with(kill, Invoke))
	wasCut := b.add(with(cut, Invoke))
	co := c.on(Fail, Acquire)
	lost := a.on(Info, Lost) // a call is open: lost does not complete it
	ao := a.on(OK, Acquire)
	restored := b.add(with(kill, OK))
	killedAgain := b.add(with(kill, Invoke))
	audit := b.add(Event{Process: Nemesis, Type: Info, F: Audit, Key: "orders/42", TTL: NoTTL})
	wi := a.on(Invoke, Write)
	wo := a.on(Info, Write)
	ri := c.on(Invoke, Read) // never completes
	crash := c.on(Info, Crash)

	ops, err := Pair(b.events)
	wantErr(t, err, "")
	want := []Op{
		{Invoke: ai, Complete: ao, Done: true},
		{Invoke: ci, Complete: co, Done: true},
		{Invoke: killed, Complete: restored, Done: true},
		{Invoke: wasCut},
		{Invoke: killedAgain},
		{Invoke: wi, Complete: wo, Done: true},
		{Invoke: ri},
	}
	if diff := cmp.Diff(want, ops); diff != "" {
		t.Errorf("ops (-want +got):\n%s", diff)
	}
	var outcomes []Type
	var faults []bool
	for _, o := range ops {
		outcomes = append(outcomes, o.Outcome())
		faults = append(faults, o.Fault())
	}
	if diff := cmp.Diff([]Type{OK, Fail, OK, Info, Info, Info, Info}, outcomes); diff != "" {
		t.Errorf("outcomes (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]bool{false, false, true, true, true, false, false}, faults); diff != "" {
		t.Errorf("faults (-want +got):\n%s", diff)
	}
	singles := slices.DeleteFunc(slices.Clone(b.events), func(e Event) bool { return !e.Single() })
	if diff := cmp.Diff([]Event{lost, audit, crash}, singles); diff != "" {
		t.Errorf("singles (-want +got):\n%s", diff)
	}
}

func with(e Event, t Type) Event {
	e.Type = t
	return e
}

func TestPairViolations(t *testing.T) {
	kill := Event{Process: Nemesis, F: "kill", Node: "redis-1"}
	tests := []struct {
		name  string
		build func(b *builder, a *caller)
		want  string
		ops   int
	}{
		{"two calls at once", func(_ *builder, a *caller) {
			a.on(Invoke, Acquire)
			a.on(Invoke, Acquire)
		}, "event 1: process 4 invokes acquire while its acquire of event 0 is still open", 2},
		{"no open call", func(_ *builder, a *caller) {
			a.call(Acquire, OK)
			a.on(Fail, Acquire)
		}, "event 2: process 4 completes acquire but has no open call", 1},
		{"another F", func(_ *builder, a *caller) {
			a.on(Invoke, Acquire)
			a.on(OK, Release)
		}, `event 1: process 4 completes release of "orders/42", attempt 7 but its open call is acquire of "orders/42", attempt 7 of event 0`, 1},
		{"another attempt", func(_ *builder, a *caller) {
			a.on(Invoke, Acquire)
			a.attempt = 8
			a.on(OK, Acquire)
		}, `event 1: process 4 completes acquire of "orders/42", attempt 8 but its open call is acquire of "orders/42", attempt 7 of event 0`, 1},
		{"another key", func(b *builder, a *caller) {
			a.on(Invoke, Acquire)
			b.add(Event{Process: 4, Worker: 4, Type: OK, F: Acquire, Key: "other", Attempt: 7})
		}, `event 1: process 4 completes acquire of "other", attempt 7 but its open call is acquire of "orders/42", attempt 7 of event 0`, 1},
		{"retired", func(_ *builder, a *caller) {
			a.call(Acquire, Info)
			a.call(Acquire, OK)
		}, "event 2: process 4 invokes acquire but retired at event 1, where its call ended as info; the worker must go on under a new process", 2},
		{"single that is no info", func(_ *builder, a *caller) {
			a.on(OK, Lost)
		}, "event 0: lost is a single event, so its type is info, found ok", 0},
		{"fault twice", func(b *builder, _ *caller) {
			b.add(with(kill, Invoke))
			b.add(with(kill, Invoke))
		}, "event 1: fault kill of redis-1 starts again before it has ended; it started at event 0", 2},
		{"fault of another node ends", func(b *builder, _ *caller) {
			b.add(with(kill, Invoke))
			b.add(Event{Process: Nemesis, Type: OK, F: "kill"})
		}, "event 1: fault kill ends but has not started", 1},
		{"no such process", func(b *builder, _ *caller) {
			b.add(Event{Process: -2, F: Acquire, Type: Invoke})
		}, "event 0: process is -2, want a client from 0 up or -1 for a fault", 0},
		{"no such type", func(b *builder, _ *caller) {
			b.add(Event{Type: 6, F: Acquire})
		}, `event 0: "type" is "Type(6)", want invoke, ok, fail or info`, 0},
		{"two violations", func(_ *builder, a *caller) {
			a.on(OK, Acquire)
			a.on(OK, Acquire)
		}, "event 0: process 4 completes acquire but has no open call\nevent 1: process 4 completes acquire but has no open call", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var b builder
			a := b.client(4, 4)
			a.attempt = 7
			tt.build(&b, a)
			ops, err := Pair(b.events)
			wantErr(t, err, tt.want)
			if len(ops) != tt.ops {
				t.Errorf("%d ops, want %d", len(ops), tt.ops)
			}
			if err := Validate(b.events); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Validate = %v, want it to say %s", err, tt.want)
			}
		})
	}
}

// A refused completion must not pass for the outcome of the call.
func TestPairRefusedCompletionLeavesTheCallUnknown(t *testing.T) {
	var b builder
	a := b.client(0, 0)
	a.attempt = 1
	a.on(Invoke, Acquire)
	a.attempt = 2
	a.on(Fail, Acquire)
	ops, _ := Pair(b.events)
	if len(ops) != 1 || ops[0].Done || ops[0].Outcome() != Info {
		t.Errorf("ops = %v, want one without a completion", ops)
	}
}

func TestProblemsAreLimited(t *testing.T) {
	var b builder
	for range maxProblems + 5 {
		b.add(Event{F: Acquire, Type: OK})
	}
	_, err := Pair(b.events)
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != maxProblems+1 || lines[maxProblems] != "and 5 more" {
		t.Errorf("%d lines, the last %q; want %d and the number of the others", len(lines), lines[len(lines)-1], maxProblems+1)
	}
}

// fuzzEvents makes a history of bytes: plausible, seldom sound.
func fuzzEvents(data []byte) []Event {
	fs := []F{Acquire, Release, Extend, Read, Write, Lost, Abandon, Crash, Waited, Audit, "kill"}
	var events []Event
	for ; len(data) >= 4; data = data[4:] {
		bits := binary.LittleEndian.Uint32(data)
		take := func(n uint32) int {
			v := bits % n
			bits /= n
			return int(v)
		}
		e := Event{
			Index: len(events) + take(17)/16, Time: time.Duration(len(events)),
			Process: take(6) - 2, Type: Type(take(5)), F: fs[take(uint32(len(fs)))],
			Attempt: uint64(take(4)), Key: []string{"a", "b"}[take(2)],
		}
		e.Worker = max(e.Process, 0) % 2
		if e.Process == Nemesis {
			e.Node = e.Key
		}
		events = append(events, e)
	}
	return events
}

func FuzzPair(f *testing.F) {
	f.Add([]byte("acquire, release, acquire, release, crash"))
	f.Add(slices.Repeat([]byte{0, 1, 2, 3, 5, 8, 13, 21}, 20))
	f.Fuzz(func(t *testing.T, data []byte) {
		events := fuzzEvents(data)
		ops, err := Pair(events)
		invokes, completions := 0, 0
		for _, e := range events {
			if e.Type == Invoke {
				invokes++
			} else if !e.Single() {
				completions++
			}
		}
		done := 0
		for i, o := range ops {
			if i > 0 && o.Invoke.Time <= ops[i-1].Invoke.Time {
				t.Fatalf("op %d is out of order", i)
			}
			if o.Invoke.Type != Invoke {
				t.Fatalf("op %d begins with %v", i, o.Invoke)
			}
			if !o.Done {
				if o.Complete != (Event{}) || o.Outcome() != Info {
					t.Fatalf("open op %d has completion %v", i, o.Complete)
				}
				continue
			}
			done++
			c := o.Complete
			if c.Type == Invoke || c.Time <= o.Invoke.Time || c.Process != o.Invoke.Process || c.F != o.Invoke.F || c.Key != o.Invoke.Key {
				t.Fatalf("op %d is %v and %v", i, o.Invoke, c)
			}
		}
		if err == nil && (len(ops) != invokes || done != completions) {
			t.Fatalf("%d ops, %d done; the history has %d invokes and %d completions", len(ops), done, invokes, completions)
		}
		if err != nil && Validate(events) == nil {
			t.Fatalf("Validate accepts what Pair refuses: %v", err)
		}
		for _, h := range Holds(events) {
			if h.Outcome == Fail || h.Open() != (h.Ended == Instant{}) {
				t.Fatalf("hold %+v", h)
			}
		}
	})
}
