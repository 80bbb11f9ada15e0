package explore_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/explore"
	"github.com/lockbench/lockbench/internal/harness"
)

// deviated plays a program of a lock with what an act does at the reply to A's first command.
func deviated(t *testing.T, lock, program, act string) (out explore.Outcome, ok bool) {
	t.Helper()
	of := find(t, lock)
	p := programOf(t, of, program)
	fair, err := explore.Run(t.Context(), p, of, harness.Embedded())
	if err != nil {
		t.Fatal(err)
	}
	at := fair.Points[slices.IndexFunc(fair.Points, func(p explore.Point) bool { return p.Client == "A" })]
	all := p.At(at, of)
	i := slices.IndexFunc(all, func(d explore.Deviation) bool { return d.Reply && d.Act.Name == act })
	if i < 0 {
		return out, false
	}
	out, err = explore.Run(t.Context(), explore.Finding{Program: p, Deviations: all[i : i+1]}.Schedule(), of, harness.Embedded())
	if err != nil || out.Missed {
		t.Fatalf("%s, %s, %s: missed %v, %v", lock, program, act, out.Missed, err)
	}
	return out, true
}

// TestClockRates: on a server whose clock runs twice as fast a lease ends early, unless the lock renews it; on a slow one the next
// client waits. Keys that never expire have nothing to do with clocks.
func TestClockRates(t *testing.T) {
	for _, c := range []struct {
		lock, program, act string
		breaks             checker.Property // empty: nothing
	}{
		{"set-options", "long-section", "clock-rate 2", checker.LeaseExclusion},
		{"watchdog", "renewed", "clock-rate 2", ""},
		{"set-options", "long-section", "clock-rate 0.5", ""},
	} {
		out, ok := deviated(t, c.lock, c.program, c.act)
		if !ok || c.breaks == "" && len(out.Fails) > 0 || c.breaks != "" && !slices.Contains(out.Fails, c.breaks) {
			t.Errorf("%s, %s, %s: it is played %v, and breaks %v, want %q", c.lock, c.program, c.act, ok, out.Fails, c.breaks)
		}
	}
	lock := find(t, "setnx-px-lua")
	p := programOf(t, lock, "relay")
	fair, err := explore.Run(t.Context(), p, lock, harness.Embedded())
	if err != nil {
		t.Fatal(err)
	}
	s := explore.NewSpace(p, fair.Points, lock)
	s.Deepen(func(int) []explore.Point { return fair.Points })
	for rank := range s.Len() {
		if ds := s.At(rank); len(ds) == 2 && strings.HasPrefix(ds[0].Act.Name, "clock-rate") && strings.HasPrefix(ds[1].Act.Name, "restart") {
			t.Fatalf("%v: a server that was restarted has the right clock, and nobody could tell how fast it ran", ds)
		}
	}
	lock.Promises.NoLease = true
	for _, d := range p.At(fair.Points[0], lock) {
		if strings.HasPrefix(d.Act.Name, "clock-rate") {
			t.Errorf("%v: its keys do not expire", d)
		}
	}
}

// TestPauseOfThread: while one thread stands still the other one of its process goes on, and gets the lock when the lease of the first is over. Of a
// process that stands still no thread does.
func TestPauseOfThread(t *testing.T) {
	first := func(act, client string) (at time.Duration) {
		out, ok := deviated(t, "setnx-px-lua", "threads", act)
		if !ok {
			t.Fatalf("there is no %s", act)
		}
		return out.Calls[slices.IndexFunc(out.Calls, func(c harness.Call) bool { return c.Client == client && c.N == 1 })].End
	}
	if a, b := first("pause-thread", "A"), first("pause-thread", "B"); b >= a {
		t.Errorf("A stood still alone, and had the lock after %v, B after %v: want B's call to end first", a, b)
	}
	if a, b := first("pause-thread of another thread", "A"), first("pause-thread of another thread", "B"); a >= b {
		t.Errorf("B stood still alone, and had the lock after %v, A after %v: want A's call to end first", b, a)
	}
	of := find(t, "setnx-px-lua")
	p := programOf(t, of, "once")
	fair, err := explore.Run(t.Context(), p, of, harness.Embedded())
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range fair.Points {
		for _, d := range p.At(at, of) {
			if strings.HasPrefix(d.Act.Name, "pause-thread") {
				t.Errorf("%v: A is no thread beside others", d)
			}
		}
	}
}
