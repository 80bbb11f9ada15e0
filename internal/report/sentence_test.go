package report_test

import (
	"strings"
	"testing"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/report"
)

// What was violated has just been named, so that it should have passed is told first.
func TestWhatWasNotExpected(t *testing.T) {
	verdicts := checker.Report{Verdict: checker.Fail, Results: []checker.Result{
		{Property: checker.StrictExclusion, Verdict: checker.Unknown},
		{Property: checker.Ownership, Verdict: checker.Pass},
		{Property: checker.TruthfulReplies, Verdict: checker.Fail},
		{Property: checker.Availability, Verdict: checker.Fail},
	}}
	judgement, err := checker.NewJudgement(verdicts, nil, checker.Unknown)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := report.Line(&b, report.Run{Judgement: judgement}, report.Style{}); err != nil {
		t.Fatal(err)
	}
	const want = "seed 0  truthful replies and availability violated, NOT as expected: fail instead of pass; " +
		"mutual exclusion came out as unknown instead of pass.\n"
	if got := b.String(); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// A run reproduces what was to break if all of it broke.
func TestReproduced(t *testing.T) {
	of := func(got checker.Verdict) report.Run {
		return report.Run{Judgement: checker.Judgement{Expected: []checker.Judged{
			{Property: checker.LeaseExclusion, Want: checker.Fail, Got: checker.Fail, Met: true},
			{Property: checker.Ownership, Want: checker.Fail, Got: got, Met: got == checker.Fail},
			{Property: checker.Availability, Want: checker.Pass, Got: checker.Pass, Met: true},
		}}}
	}
	for got, want := range map[checker.Verdict]bool{checker.Fail: true, checker.Pass: false, checker.Unknown: false} {
		if wanted, shown := of(got).Reproduced(); !wanted || shown != want {
			t.Errorf("%v: wanted %v, shown %v; want true, %v", got, wanted, shown, want)
		}
	}
	if wanted, shown := (report.Run{}).Reproduced(); wanted || shown {
		t.Errorf("nothing was expected: wanted %v, shown %v", wanted, shown)
	}
}
