package checker

import (
	"strings"
	"testing"

	"github.com/lockbench/lockbench/histories"
)

// TestAssumptions breaks the harness's own assumptions, one after the other. They are checked
// before any judge is asked; the report says which event is at fault and accuses no lock.
func TestAssumptions(t *testing.T) {
	const history = `
		A acquire 1 2 ok ttl=10
		B acquire 2.5 3 fail ttl=10
		A read 4 5 ok version=0
		A write 6 7 ok version=0
		A release 8 9 ok
		B acquire 10 11 ok ttl=10
		B release 12 13 ok`
	at := func(ms float64) func(histories.Event) bool {
		return func(e histories.Event) bool { return float64(e.Time)/1e6 == ms }
	}
	for _, c := range []struct {
		name   string
		which  func(histories.Event) bool
		change func(*histories.Event)
		want   string
	}{
		{"indexes have a gap", at(4), func(e *histories.Event) { e.Index = 99 }, "event 99: index is 99, want 4"},
		{"the clock goes back", at(4), func(e *histories.Event) { e.Time = 0 }, "event 4: time is 0 ns, before the 3000000 ns of the event before it"},
		{"two calls of a process at once", at(2), func(e *histories.Event) { e.Type, e.F, e.Attempt = histories.Invoke, histories.Read, 1 }, "event 1: process 0 invokes read while its acquire of event 0 is still open"},
		{"an answer without a call", at(4), func(e *histories.Event) { e.Type = histories.OK }, "event 4: process 0 completes read but has no open call"},
		{"another call's answer", at(9), func(e *histories.Event) { e.F = histories.Extend }, "event 9: process 0 completes extend of \"k\", attempt 1 but its open call is release"},
		{"a process goes on after a call of unknown outcome", at(5), func(e *histories.Event) { e.Type = histories.Info }, "event 6: process 0 invokes write but retired at event 5"},
		{"an attempt twice", at(10), func(e *histories.Event) { e.Attempt = 1 }, "event 10: acquire has attempt 1, which the acquire of event 0 used before"},
		{"an attempt of nobody", at(8), func(e *histories.Event) { e.Attempt = 77 }, "event 8: release carries attempt 77, which no acquire before it has"},
		{"an attempt of another", at(12), func(e *histories.Event) { e.Attempt = 1 }, "event 12: release by worker 1 carries attempt 1, which worker 0 acquired (event 0)"},
		{"no attempt", at(10), func(e *histories.Event) { e.Attempt = 0 }, "event 10: acquire has no attempt"},
		{"a process of two workers", at(12), func(e *histories.Event) { e.Worker = 0 }, "event 12: process 1 belongs to worker 1, found worker 0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			events := script(t, history)
			if report := Check(t.Context(), events, Options{}); len(report.HarnessErrors) > 0 {
				t.Fatal("the history itself breaks them: ", report.HarnessErrors)
			}
			changed := 0
			for i := range events {
				if c.which(events[i]) {
					c.change(&events[i])
					changed++
				}
			}
			report := Check(t.Context(), events, Options{})
			if changed != 1 || len(report.HarnessErrors) != 1 || !strings.Contains(report.HarnessErrors[0], c.want) {
				t.Errorf("%d events were changed, and the harness errors are %q, want %q", changed, report.HarnessErrors, c.want)
			}
			if got := verdicts(report); got != "all unknown" || report.Verdict != Unknown {
				t.Errorf("verdicts %s, together %v", got, report.Verdict)
			}
			if watched, _ := watch(events, nil); watched != "" {
				t.Errorf("a Watch accuses %s", watched)
			}
		})
	}
}

// TestTheResourceIsSane checks that a resource that breaks its own rules accuses no lock: what is
// judged by it is unknown, and the report names the events.
func TestTheResourceIsSane(t *testing.T) {
	for _, c := range []struct {
		name, history string
		property      Property
		want          string
	}{
		{"two writes replace the same version", `
			A acquire 1 2 ok ttl=10
			B acquire 2.5 3 fail ttl=10
			A write 4 5 ok version=0
			A release 6 7 ok
			B acquire 8 9 ok ttl=10
			B write 10 11 ok version=0
			B release 12 13 ok`, ResourceSafety, "resource-safety: the register k is broken: the writes of events 5 and 11 both replaced version 0"},
		{"a version comes back", `
			A acquire 1 2 ok ttl=10
			B acquire 2.5 3 fail ttl=10
			A write 4 5 ok version=3
			A read 6 7 ok version=2
			A release 8 9 ok
			B acquire 10 11 ok ttl=10
			B release 12 13 ok`, ResourceSafety, "resource-safety: the register k is broken: the read of event 7 found version 2, but version 4 had been seen before it was invoked"},
		{"a counter counts what nobody added", `
			A acquire 1 2 ok ttl=10
			B acquire 2.5 3 fail ttl=10
			A incr 4 5 ok value=7
			A release 6 7 ok
			B acquire 8 9 ok ttl=10
			B release 12 13 ok`, CounterSafety, "counter-safety: the counter k is broken: the incr of event 5 found 6, but only 0 increments can have counted by then"},
		{"a counter falls below nothing", `
			A acquire 1 2 ok ttl=10
			B acquire 2.5 3 fail ttl=10
			A incr 4 5 ok value=0
			A release 6 7 ok
			B acquire 8 9 ok ttl=10
			B release 12 13 ok`, CounterSafety, `counter-safety: the counter k is broken: the incr of event 5 saw "0", want a number from 1 up`},
		{"a counter is no number", `
			A acquire 1 2 ok ttl=10
			B acquire 2.5 3 fail ttl=10
			A incr 4 5 ok value=x
			A release 6 7 ok
			B acquire 8 9 ok ttl=10
			B release 12 13 ok`, CounterSafety, `counter-safety: the counter k is broken: the incr of event 5 saw "x", want a number from 1 up`},
	} {
		t.Run(c.name, func(t *testing.T) {
			report := Check(t.Context(), script(t, c.history), Options{})
			if len(report.HarnessErrors) != 1 || report.HarnessErrors[0] != c.want {
				t.Errorf("harness errors %q, want %q", report.HarnessErrors, c.want)
			}
			for _, res := range report.Results {
				if res.Verdict == Fail || res.Property == c.property && res.Verdict != Unknown {
					t.Errorf("%s is %v: %s", res.Property, res.Verdict, res.Story)
				}
			}
		})
	}
}

// TestEveryJudgeSaysWhatItDid looks at every result on the corpus, and on a history in which
// nobody gets anything: each has an engine, a story of one paragraph and a number of events, and
// each judge leaves open what was not put to the test.
func TestEveryJudgeSaysWhatItDid(t *testing.T) {
	open := map[Property]bool{}
	look := func(report Report) {
		for _, res := range report.Results {
			if res.Engine == "" || strings.TrimSpace(res.Story) == "" || strings.Contains(res.Story, "\n") || !strings.HasSuffix(res.Story, ".") {
				t.Errorf("%s by %q: %q", res.Property, res.Engine, res.Story)
			}
			if decided := res.Verdict == Pass || res.Verdict == Fail; decided && res.Checked == 0 || res.Unknowns > res.Checked {
				t.Errorf("%s is %v after %d events, %d calls of which are unknown", res.Property, res.Verdict, res.Checked, res.Unknowns)
			}
			open[res.Property] = open[res.Property] || res.Verdict == Unknown || res.Verdict == NotApplicable
		}
	}
	for _, s := range scenarios {
		events := script(t, s.history)
		look(Check(t.Context(), events, corpusOptions(s.file, events)))
	}
	look(Check(t.Context(), script(t, `
		A acquire 1 5 info ttl=10 value=reenter token=1
		B acquire 2 6 info ttl=10 value=reenter
		A read 7 8 info
		A incr 9 10 info
		A draw 11 12 info value=1
		A count 13 14 info
		A release 15 16 info`), Options{}))
	look(Check(t.Context(), script(t, `
		A acquire 1 2 ok token=1
		B acquire 3 4 fail
		A release 5 6 ok`), Options{}))
	look(Check(t.Context(), script(t, `
		A acquire 1 2 ok
		B acquire 3 13 fail
		B waited 13 value=1
		A release 15 16 ok`), Options{}))
	for _, s := range allSpecs() {
		if !open[s.property] {
			t.Errorf("no history leaves %s open", s.property)
		}
	}
}
