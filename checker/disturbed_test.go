package checker

import (
	"testing"

	"github.com/lockbench/lockbench/histories"
)

// twoHold is a violation of exclusion from 3 to 6, under leases of 10, and one more from 63 to 66.
const (
	twoHold = `
		A acquire 1 2 ok ttl=10 deadline=11
		B acquire 3 4 ok ttl=10 deadline=13
		A release 6 7 fail
		B release 8 9 ok
	`
	twoHoldLater = `
		C acquire 61 62 ok ttl=10 deadline=71
		D acquire 63 64 ok ttl=10 deadline=73
		C release 66 67 fail
		D release 68 69 ok
	`
	oneHolds = `
		A acquire 1 2 ok ttl=10 deadline=11
		B acquire 3 4 fail
		A release 6 7 ok
		B acquire 8 9 ok ttl=10 deadline=18
		B release 10 11 ok
	`
)

func TestStalls(t *testing.T) {
	try(t, StrictExclusion, []trial{
		{name: "none", history: twoHold, want: Fail},
		{name: "before", history: "! harness-stall 0 ttl=0\n" + twoHold, want: Unknown, story: "stood still for 0.000 s"},
		{name: "in the midst", history: twoHold + "! harness-stall 5 ttl=2", want: Unknown, story: "Not judged, and not the lock's fault"},
		{name: "all the time", history: twoHold + "! harness-stall 20 ttl=19", want: Unknown, story: "stood still for 0.019 s"},
		{name: "after", history: twoHold + "! harness-stall 20 ttl=10", want: Fail},
		{name: "what it leaves behind", history: "! harness-stall 50 ttl=5\n" + twoHoldLater, want: Unknown},
		{name: "long before", history: "! harness-stall 20 ttl=5\n" + twoHoldLater, want: Fail},
		{name: "between two", history: twoHold + "! harness-stall 20 ttl=5\n" + twoHoldLater, want: Fail},
		{name: "of what holds", history: oneHolds + "! harness-stall 5 ttl=2", want: Pass},
		{name: "and a step that could not be played", history: oneHolds + "! harness-stall 5 ttl=2 error=step", want: Unknown, story: "and so step"},
	})
}

func TestRunsThatEndBeforeTheirTime(t *testing.T) {
	for _, history := range []string{"! standstill 20", "! died 20 node=m1", "C hung 20 value=acquire"} {
		try(t, StrictExclusion, []trial{{name: history, history: oneHolds + history, want: Unknown, story: "not the lock's fault"}})
	}
	try(t, StrictExclusion, []trial{
		{name: "time stands still after a violation", history: twoHold + "! standstill 20", want: Fail},
		{name: "a call does not return after a violation", history: twoHold + "C hung 20 value=acquire", want: Fail},
		{name: "a server dies after a violation", history: twoHold + "! died 20 node=m1", want: Unknown, story: "server m1 ended by itself"},
	})
	try(t, Availability, []trial{
		{name: "a call does not return", history: oneHolds + "C acquire 12 20 info ttl=10\nC hung 20 value=acquire error=late", want: Fail,
			story: "C's acquire of k late", witness: []string{"20 C hung info"}},
		{name: "and lockbench stood still", history: oneHolds + "C hung 20 value=acquire\n! harness-stall 21 ttl=15", want: Fail},
		{name: "virtual time stands still", history: oneHolds + "! standstill 20 error=stuck", want: Unknown, story: "stuck; play it in real time"},
	})
}

// TestNotCaughtInAStall checks that a lock which ought to break and does not is not known to hold
// if lockbench stood still.
func TestNotCaughtInAStall(t *testing.T) {
	for history, want := range map[string]Outcome{oneHolds: Unexpected, oneHolds + "! harness-stall 5 ttl=2": Undecided} {
		if got, _ := Compare(Check(t.Context(), script(t, history), Options{}), Expectation{StrictExclusion: Fail}); got != want {
			t.Errorf("%s: %v, want %v", history, got, want)
		}
	}
}

func TestStandsIn(t *testing.T) {
	const stack = "late\nsleep:\n  a.F (a.go:1)\n  b.G (b.go:2)"
	rec := newRecord(Options{})
	rec.Incidents = []histories.Event{{F: histories.Hung, Worker: 2, Value: "close", Err: stack}}
	const want = "Closing the lock of C late. It stands (sleep) in a.F (a.go:1), called by b.G (b.go:2)."
	if got := rec.hung().story; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
