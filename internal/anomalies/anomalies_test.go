package anomalies_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/anomalies"
)

func TestTable(t *testing.T) {
	all := anomalies.All()
	if len(all) != 21 {
		t.Errorf("there are %d anomalies, want 21", len(all))
	}
	names := map[string]bool{}
	for i, a := range all {
		if i > 0 && all[i-1].Code >= a.Code {
			t.Errorf("%s comes after %s; want each code once, in order", a, all[i-1])
		}
		if names[a.Name] || !strings.HasSuffix(a.Definition, ".") || strings.Contains(strings.TrimSuffix(a.Definition, "."), ". ") {
			t.Errorf("%s is defined by %q; want a name of its own and one sentence", a, a.Definition)
		}
		names[a.Name] = true
		if found, ok := anomalies.Find(a.Code); !ok || found != a {
			t.Errorf("Find(%q) = %v, %v", a.Code, found, ok)
		}
	}
	for _, code := range []string{"", "A00", "foreign release"} {
		if a, ok := anomalies.Find(code); ok {
			t.Errorf("Find(%q) = %v, want none", code, a)
		}
	}
}

// by is a cause of a kind that explains properties, on the evidence of the first events.
func by(kind checker.CauseKind, properties ...checker.Property) checker.Cause {
	return checker.Cause{Kind: kind, Properties: properties, Events: []int{0, 1}}
}

func TestName(t *testing.T) {
	call := func(f histories.F, end histories.Type) []histories.Event {
		return []histories.Event{{Index: 0, Type: histories.Invoke, F: f}, {Index: 1, Type: end, F: f}}
	}
	other := func(events []histories.Event, more ...histories.Event) []histories.Event {
		for i := range more {
			more[i].Index = len(events) + i
		}
		return append(events, more...)
	}
	hung := anomalies.Run{Events: []histories.Event{{Process: histories.Nemesis, F: "stall"}}, HungFaults: []histories.F{"stall"}, ClockFaults: []histories.F{"clock"}}
	clock := hung
	clock.Events = []histories.Event{{Process: histories.Nemesis, F: "clock"}}
	released := call(histories.Release, histories.OK)
	two := other(slices.Clone(released))
	two[1].Worker = 1
	lost := other(call(histories.Acquire, histories.OK), histories.Event{F: histories.Lost})
	others := other(call(histories.Acquire, histories.OK), histories.Event{F: histories.Lost, Worker: 3})
	for _, c := range []struct {
		want  string
		cause checker.Cause
		run   anomalies.Run
	}{
		{"A01", by(checker.ReleasedAnothers, checker.Ownership), anomalies.Run{Events: released}},
		{"A01", by(checker.ReleasedAnothers, checker.Ownership), anomalies.Run{Events: two, Threads: 1}},
		{"A10", by(checker.ReleasedAnothers, checker.Ownership), anomalies.Run{Events: two, Threads: 2}},
		{"", by(checker.EndedByOthers, checker.Ownership), anomalies.Run{Events: released}},
		{"A02", by(checker.ExtendedAnothers, checker.TruthfulReplies), anomalies.Run{}},
		{"A03", by(checker.LeaseOutlived, checker.StrictExclusion), anomalies.Run{Renews: true}},
		{"A03", by(checker.LeaseOutlived, checker.StrictExclusion), anomalies.Run{Renews: true, Events: others}},
		{"A04", by(checker.LeaseOutlived, checker.StrictExclusion), anomalies.Run{Renews: true, Events: lost}},
		{"A04", by(checker.DeadlineTooLate, checker.LeaseExclusion), anomalies.Run{}},
		{"A05", by(checker.KeptRenewing, checker.DeadlockFreedom), anomalies.Run{}},
		{"A06", by(checker.LeaseOutlived, checker.StrictExclusion, checker.ResourceSafety), anomalies.Run{}},
		{"", by(checker.LeaseOutlived, checker.StrictExclusion), anomalies.Run{}},
		{"A07", by(checker.Minority, checker.LeaseExclusion), anomalies.Run{}},
		{"A08", by(checker.LateCommand, checker.DeadlockFreedom), anomalies.Run{Renews: true, Events: call(histories.Acquire, histories.Info)}},
		{"A09", by(checker.LateCommand, checker.DeadlockFreedom), anomalies.Run{Renews: true, Events: released}},
		{"", by(checker.LateCommand, checker.DeadlockFreedom), anomalies.Run{Events: released}},
		{"A11", by(checker.MetOwnKey, checker.TruthfulReplies), anomalies.Run{Events: call(histories.Acquire, histories.Fail)}},
		{"", by(checker.MetOwnKey, checker.DeadlockFreedom), anomalies.Run{Events: call(histories.Extend, histories.OK)}},
		{"A12", by(checker.Seen, checker.Availability), hung},
		{"A16", by(checker.LeaseTooLong, checker.Availability), hung},
		{"A18", by(checker.KeyLeftBehind, checker.TruthfulReplies), hung},
		{"A13", by(checker.OwnKeyDeleted, checker.LeaseHonoured), anomalies.Run{Events: call(histories.Extend, histories.OK)}},
		{"", by(checker.OwnKeyDeleted, checker.LeaseHonoured), anomalies.Run{Events: released}},
		{"A14", by(checker.TokenPrefix, checker.StrictExclusion), anomalies.Run{}},
		{"", by(checker.GrantedOver, checker.StrictExclusion), anomalies.Run{}},
		{"A15", by(checker.ServerForgot, checker.LeaseExclusion), clock},
		{"", by(checker.ServerForgot, checker.LeaseExclusion), hung},
		{"A16", by(checker.LeaseTooLong, checker.DeadlockFreedom), anomalies.Run{}},
		{"A17", by(checker.NothingAsked, checker.TruthfulReplies), anomalies.Run{Events: call(histories.Acquire, histories.Fail)}},
		{"A19", by(checker.NothingAsked, checker.TruthfulReplies), anomalies.Run{Events: released}},
		{"", by(checker.NothingAsked, checker.StrictExclusion), anomalies.Run{Events: call(histories.Extend, histories.OK)}},
		{"A20", by(checker.Seen, checker.Fairness), anomalies.Run{}},
		{"A21", by(checker.Spinning, checker.Load), anomalies.Run{}},
		{"", by(checker.Seen, checker.StrictExclusion), anomalies.Run{}},
	} {
		causes := []checker.Cause{c.cause}
		if c.run.Name(causes); causes[0].Anomaly != c.want {
			t.Errorf("%s of %v shows %q, want %q", c.cause.Kind, c.cause.Properties, causes[0].Anomaly, c.want)
		}
	}
}

func TestOf(t *testing.T) {
	causes := []checker.Cause{
		{Properties: []checker.Property{checker.StrictExclusion}},
		{Properties: []checker.Property{checker.Ownership, checker.LeaseExclusion}, Anomaly: "A01"},
		{Properties: []checker.Property{checker.ResourceSafety}, Anomaly: "A06"},
	}
	for _, c := range []struct {
		of   []checker.Property
		want string
	}{
		{[]checker.Property{checker.StrictExclusion}, ""},
		{[]checker.Property{checker.ResourceSafety, checker.LeaseExclusion}, "A01"},
		{[]checker.Property{checker.ResourceSafety}, "A06"},
		{nil, ""},
	} {
		if a, ok := anomalies.Of(causes, c.of); a.Code != c.want || ok != (c.want != "") {
			t.Errorf("of %v it is %q, %v; want %q", c.of, a.Code, ok, c.want)
		}
	}
}
