package story_test

import (
	"slices"
	"testing"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/story"
)

const s = time.Second

// run numbers events, each of which is a second later than the one before.
func run(events ...histories.Event) []histories.Event {
	for i := range events {
		events[i].Index, events[i].Time = i, time.Duration(i)*s
	}
	return events
}

func event(worker int, t histories.Type, f histories.F, change ...func(*histories.Event)) histories.Event {
	e := histories.Event{Process: worker, Worker: worker, Type: t, F: f, Key: "k", Attempt: uint64(worker + 1)}
	for _, c := range change {
		c(&e)
	}
	return e
}

func fault(t histories.Type, f, node, value string) histories.Event {
	return histories.Event{Process: histories.Nemesis, Type: t, F: histories.F(f), Node: node, Value: value}
}

func until(end time.Duration) func(*histories.Event) {
	return func(e *histories.Event) { e.Deadline = end }
}

func reads(e *histories.Event) { e.Value = string(histories.Shared) }

// takeover is a run in which B is granted what A believes to hold, after A's lease.
func takeover() []histories.Event {
	return run(
		event(0, histories.Invoke, histories.Acquire),
		event(0, histories.OK, histories.Acquire, until(3*s)),
		event(0, histories.Invoke, histories.Extend),
		event(0, histories.OK, histories.Extend, until(5*s)),
		fault(histories.Invoke, "pause", "A", "stands still"),
		event(1, histories.Invoke, histories.Acquire),
		event(1, histories.OK, histories.Acquire, until(9*s)),
		fault(histories.OK, "pause", "A", "goes on"),
		event(0, histories.Invoke, histories.Release),
		event(0, histories.Fail, histories.Release),
		event(1, histories.Invoke, histories.Release),
		event(1, histories.OK, histories.Release),
	)
}

func TestBeliefs(t *testing.T) {
	told := story.Of(takeover(), nil)
	all := told.Beliefs()
	if len(all) != 2 || all[0].Client() != "A" || all[1].Client() != "B" {
		t.Fatalf("%+v believe, want A and B", all)
	}
	a := all[0]
	want := []story.Lease{{From: 1 * s, To: 3 * s, End: 3 * s, Event: 1}, {From: 3 * s, To: 5 * s, End: 5 * s, Event: 3}}
	if got := a.Leases(); !slices.Equal(got, want) {
		t.Errorf("A's leases are %+v, want %+v", got, want)
	}
	if at, lapsed := a.Lapse(20 * s); !lapsed || at != 5*s {
		t.Errorf("A's lease ended under it: %v at %v, want true at 5s", lapsed, at)
	}
	if at, lapsed := a.Lapse(4 * s); lapsed {
		t.Errorf("A's lease ended at %v, before the 4s that are looked at", at)
	}
	if at, lapsed := all[1].Lapse(20 * s); !lapsed || at != 9*s {
		t.Errorf("B's lease ended under it: %v at %v, want true at 9s, as it released at 10s", lapsed, at)
	}
	if got := a.Until(20 * s); got != 8*s {
		t.Errorf("A believed until %v, want 8s, when it asked to release", got)
	}
	if got := a.Until(6 * s); got != 6*s {
		t.Errorf("A believed until %v, want the 6s that are looked at", got)
	}
}

// TestLeaseBefore: a lease that was extended ends when its holder was told last, and not before it was.
func TestLeaseBefore(t *testing.T) {
	b := story.Belief{Hold: histories.Hold{Deadline: 3 * s, Extends: []histories.Extension{
		{Returned: histories.Instant{Event: 10}, Deadline: 5 * s},
		{Returned: histories.Instant{Event: 12}}, // it did not say
	}}}
	for event, want := range map[int]time.Duration{9: 3 * s, 11: 5 * s, 13: 5 * s} {
		if got := b.LeaseBefore(event); got != want {
			t.Errorf("before event %d it ends at %v, want %v", event, got, want)
		}
	}
}

func TestMeetings(t *testing.T) {
	one := func(events []histories.Event, granted int) (m story.Meeting, n int) {
		all := story.Of(events, nil).Meetings(granted)
		if len(all) == 0 {
			return m, 0
		}
		return all[0], len(all)
	}
	m, n := one(takeover(), 6)
	if n != 1 || m.Holder.Client() != "A" || m.Granted.Client() != "B" || m.Lapsed != 5*s {
		t.Errorf("%d meetings, %+v, want one, of A, whose lease ended at 5s, with B", n, m)
	}
	if _, n := one(takeover(), 1); n != 0 {
		t.Error("A meets somebody when it is granted a free lock")
	}
	if _, n := one(takeover(), 5); n != 0 {
		t.Error("B meets somebody when it asks, before it is granted anything")
	}

	early := takeover()
	early[3].Deadline = 60 * s
	if m, n := one(early, 6); n != 1 || m.Lapsed != 0 {
		t.Errorf("%d meetings, lapsed at %v, want one under a lease that goes on", n, m.Lapsed)
	}
	other := takeover()
	for i := range other {
		if other[i].Worker == 1 {
			other[i].Key = "other"
		}
	}
	if _, n := one(other, 6); n != 0 {
		t.Error("holders of two keys meet")
	}
	shared := run(
		event(0, histories.Invoke, histories.Acquire, reads), event(0, histories.OK, histories.Acquire),
		event(1, histories.Invoke, histories.Acquire, reads), event(1, histories.OK, histories.Acquire),
	)
	if _, n := one(shared, 3); n != 0 {
		t.Error("two readers meet")
	}
}

func TestFaults(t *testing.T) {
	events := run(
		fault(histories.Invoke, "pause", "A", "stands still"), fault(histories.OK, "pause", "A", "goes on"),
		fault(histories.Invoke, "kill", "master", "SIGKILL"), fault(histories.Info, "kill", "master", ""),
		fault(histories.Invoke, "flush", "", "empties it"), fault(histories.OK, "flush", "", "emptied"),
	)
	events[5].Time = events[4].Time
	told := story.Of(events, nil)
	type seen struct {
		name, effect string
		over, failed bool
	}
	var got []seen
	for _, f := range told.Faults() {
		got = append(got, seen{f.Name(), f.Effect(), f.Over(), f.Failed()})
	}
	want := []seen{{"pause A", "stands still", true, false}, {"kill master", "SIGKILL", false, true}, {"flush", "emptied", true, false}}
	if !slices.Equal(got, want) {
		t.Errorf("faults are %+v, want %+v", got, want)
	}
}

func TestOperation(t *testing.T) {
	told := story.Of(takeover(), nil)
	for event, first := range map[int]int{0: 0, 1: 0, 3: 2, 7: 4} {
		if o, ok := told.Operation(event); !ok || o.Invoke.Index != first {
			t.Errorf("event %d is of the operation that began at %d (%v), want %d", event, o.Invoke.Index, ok, first)
		}
	}
	if _, ok := told.Operation(99); ok {
		t.Error("an event that there is none of has an operation")
	}
	if len(story.Of(nil, nil).Operations()) != 0 || len(story.Of(nil, nil).Beliefs()) != 0 {
		t.Error("something happened in a run of no events")
	}
}

func TestCommands(t *testing.T) {
	events := takeover()
	at := func(when time.Duration, client, command string) histories.Exchange {
		return histories.Exchange{Sent: when, Replied: when, Client: client, Node: "master", Command: command}
	}
	exchanges := []histories.Exchange{
		at(5500*time.Millisecond, "B", "SET k b NX PX 3000"),
		at(100*time.Millisecond, "A", "HELLO 3"),
		at(500*time.Millisecond, "A", "SET k a NX PX 3000"),
		at(600*time.Millisecond, "B", "GET k"),
		at(1500*time.Millisecond, "A", "PEXPIRE k 3000"),
		{Sent: 600 * time.Millisecond, Client: "A", Node: story.Register, Command: "GET r"},
	}
	told := story.Of(events, exchanges)
	for event, want := range map[int][]int{0: {2, 5}, 5: {0}, 8: nil} {
		o, _ := told.Operation(event)
		if got := told.Sent(o); !slices.Equal(got, want) {
			t.Errorf("the call of event %d sent %v, want %v", event, got, want)
		}
	}
	var unasked []string
	for _, x := range told.Unasked(0, 20*s) {
		unasked = append(unasked, x.Client+" "+x.Command)
	}
	if want := []string{"B GET k", "A PEXPIRE k 3000"}; !slices.Equal(unasked, want) {
		t.Errorf("unasked were %q, want %q", unasked, want)
	}
	if got := told.Unasked(0, s); len(got) != 1 {
		t.Errorf("%d commands were unasked in the first second, want 1", len(got))
	}
	if o, _ := told.Operation(0); len(told.Sent(o)) == 0 || story.Setup(exchanges[2]) || !story.Setup(exchanges[1]) {
		t.Error("the command that takes the lock is no part of opening a connection, and HELLO is")
	}
}

// TestNamesAnotherKey: a command that names another key of the run is not a call's.
func TestNamesAnotherKey(t *testing.T) {
	events := run(event(0, histories.Invoke, histories.Acquire), event(1, histories.Invoke, histories.Acquire, func(e *histories.Event) { e.Key = "other" }))
	told := story.Of(events, []histories.Exchange{{Sent: 2 * s, Client: "A", Command: "DEL other"}, {Sent: 2 * s, Client: "A", Command: "PING"}})
	o, _ := told.Operation(0)
	if got := told.Sent(o); !slices.Equal(got, []int{1}) {
		t.Errorf("the call sent %v, want the PING alone", got)
	}
}

func TestFates(t *testing.T) {
	for want, x := range map[story.Fate]histories.Exchange{
		story.Answered:  {Replied: s},
		story.Waiting:   {},
		story.Held:      {Note: histories.CommandHeld},
		story.ReplyHeld: {Note: histories.ReplyHeld},
		story.LetGo:     {Replied: s, Note: histories.CommandLetGo},
		story.Lost:      {Note: histories.ReplyDropped},
	} {
		if got := story.FateOf(x); got != want {
			t.Errorf("%+v: %d, want %d", x, got, want)
		}
	}
}

// TestIs: a story is of the slices that it was made of, and of no others.
func TestIs(t *testing.T) {
	events := takeover()
	told := story.Of(events, nil)
	if !told.Is(events, nil) || told.Is(events[:3], nil) || told.Is(slices.Clone(events), nil) || !story.Of(nil, nil).Is(nil, nil) {
		t.Error("a story must be of its own events alone")
	}
}
