package checker

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench/histories"
)

const sound = `
	A acquire 1 2 ok ttl=10
	B acquire 2 3 fail ttl=10
	A release 3 4 ok`

func TestMerge(t *testing.T) {
	for _, c := range []struct {
		in   []Verdict
		want Verdict
	}{
		{nil, Unknown},
		{[]Verdict{NotApplicable}, Unknown},
		{[]Verdict{NotApplicable, Pass}, Pass},
		{[]Verdict{Pass, Unknown, Pass}, Unknown},
		{[]Verdict{Unknown, Pass, Fail, NotApplicable}, Fail},
		{[]Verdict{Pass, Verdict(9)}, Unknown},
		{[]Verdict{Fail, Disagreement, Pass}, Disagreement},
	} {
		if got := NotApplicable.Merge(c.in...); got != c.want {
			t.Errorf("Merge(%v) = %v, want %v", c.in, got, c.want)
		}
	}
}

func TestVerdictText(t *testing.T) {
	for v, want := range map[Verdict]string{Unknown: "unknown", Pass: "pass", Fail: "fail", NotApplicable: "not-applicable", Disagreement: "checker-disagreement"} {
		text, err := json.Marshal(v)
		if err != nil || string(text) != `"`+want+`"` {
			t.Errorf("%v is written as %s, %v, want %q", v, text, err, want)
		}
		got := Verdict(99)
		if err := json.Unmarshal(text, &got); err != nil || got != v {
			t.Errorf("%s is read as %v, %v", text, got, err)
		}
	}
	var v Verdict
	if err := v.UnmarshalText([]byte("passed")); err == nil || !strings.Contains(err.Error(), `"passed", want unknown, pass`) {
		t.Errorf("unhelpful error %v", err)
	}
	if _, err := Verdict(5).MarshalText(); err == nil {
		t.Error("Verdict(5) was written")
	}
	if got := Verdict(5).String(); got != "Verdict(5)" {
		t.Errorf("got %s", got)
	}
}

func TestReportResult(t *testing.T) {
	report := Report{Results: []Result{{Property: Ownership, Verdict: Pass}}}
	if got := report.Result(Ownership).Verdict; got != Pass {
		t.Errorf("ownership is %v", got)
	}
	if got := report.Result(DeadlockFreedom); got.Verdict != Unknown || got.Property != DeadlockFreedom {
		t.Errorf("a property that was not judged is %+v", got)
	}
}

func TestCheckRefusesInvalidHistories(t *testing.T) {
	events := script(t, sound)
	events[3].Index = 7
	report := Check(t.Context(), events, Options{})
	if got := verdicts(report); got != "all unknown" || report.Verdict != Unknown {
		t.Errorf("verdicts %s, together %v", got, report.Verdict)
	}
	if len(report.HarnessErrors) != 1 || !strings.Contains(report.HarnessErrors[0], "event 7: index is 7, want 3") {
		t.Errorf("harness errors %q", report.HarnessErrors)
	}
}

func TestCheckSurvivesJudges(t *testing.T) {
	specs := []spec{
		{property: StrictExclusion, judge: decides(func() error { panic("out of bounds") }).start},
		{property: LeaseExclusion, judge: decides(func() error { return errors.New("no idea") }).start},
		{property: LeaseHonoured, judge: decides(func() error { return &disagreement{"one says yes, one no"} }).start},
		{property: Ownership, judge: decides(func() error { return nil }).start},
	}
	report := check(t.Context(), script(t, sound), Options{}, specs)
	want := Report{
		Verdict:  Disagreement,
		Panicked: true,
		HarnessErrors: []string{
			"mutual-exclusion: the judge panicked: out of bounds", "lease-exclusion: no idea",
			"lease-honoured: checker disagreement: one says yes, one no",
		},
		Results: []Result{
			{Property: StrictExclusion, Story: "Not judged, and not the lock's fault: the judge panicked: out of bounds."},
			{Property: LeaseExclusion, Story: "Not judged, and not the lock's fault: no idea."},
			{
				Property: LeaseHonoured, Verdict: Disagreement,
				Story: "Not judged, and not the lock's fault: checker disagreement: one says yes, one no.",
			},
			{Property: Ownership, Verdict: Pass, Witness: []int{1}},
		},
	}
	if diff := cmp.Diff(want, report); diff != "" {
		t.Errorf("report (-want +got):\n%s", diff)
	}
	// What is missing explains that a judge has no idea, and neither a panic nor a disagreement.
	report = check(t.Context(), script(t, sound), Options{Gaps: []int{1}}, specs)
	if diff := cmp.Diff([]string{want.HarnessErrors[0], want.HarnessErrors[2]}, report.HarnessErrors); diff != "" || !report.Panicked {
		t.Errorf("with a gap: panicked %v (-want +got):\n%s", report.Panicked, diff)
	}
}

// decides is a judge that says Pass, with a witness, and returns an error.
type decides func() error

func (d decides) start(*record, Options) judge { return d }

func (decides) observe(context.Context, *stretch) error { return nil }

func (d decides) verdict(res *finding) error {
	res.Verdict, res.Witness = Pass, []int{1}
	return d()
}

func TestCheckCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	report := Check(ctx, script(t, sound), Options{})
	if got := verdicts(report); got != "all unknown" {
		t.Errorf("verdicts %s", got)
	}
	if got := report.Result(Ownership).Story; got != "Not judged: context canceled." {
		t.Errorf("story %q", got)
	}
}

func TestCheckTook(t *testing.T) {
	var now time.Duration
	clock := func() time.Duration { now += time.Second; return now }
	for _, r := range Check(t.Context(), script(t, sound), Options{Now: clock}).Results {
		if want := 2 * time.Second; r.Took != want { // it heard one stretch, and had its say
			t.Errorf("%s took %v, want %v", r.Property, r.Took, want)
		}
	}
	for _, r := range Check(t.Context(), script(t, sound), Options{}).Results {
		if r.Took != 0 {
			t.Errorf("%s took %v without a clock", r.Property, r.Took)
		}
	}
}

func TestCheckCounts(t *testing.T) {
	report := Check(t.Context(), script(t, `
		A acquire 1 2 ok
		B acquire 2 3 info
		A read 3 4 ok version=0
		A write 4 5 info
		A release 6 - open
		! audit 8 node=m`), Options{})
	for property, want := range map[Property][2]int{
		StrictExclusion: {5, 2}, Ownership: {5, 2}, ResourceSafety: {4, 1}, DeadlockFreedom: {6, 2},
	} {
		if got := report.Result(property); got.Checked != want[0] || got.Unknowns != want[1] {
			t.Errorf("%s: checked %d, unknown %d, want %v", property, got.Checked, got.Unknowns, want)
		}
	}
}

func TestNames(t *testing.T) {
	for worker, want := range map[int]string{0: "A", 25: "Z", 26: "client 27"} {
		if got := histories.WorkerName(worker); got != want {
			t.Errorf("worker %d is %s, want %s", worker, got, want)
		}
	}
}

// The names of faults that only touch clients are known to the checker by default.
// They are spelled as the nemeses spell them.
func TestDefaultClientFaults(t *testing.T) {
	want := []histories.F{"hold", "pause"}
	if diff := cmp.Diff(want, Options{}.clientFaults()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := (Options{ClientFaults: []histories.F{}}).clientFaults(); len(got) != 0 {
		t.Errorf("an empty list means %v", got)
	}
}
