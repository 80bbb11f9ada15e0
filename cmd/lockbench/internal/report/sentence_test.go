package report_test

import (
	"strings"
	"testing"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/cmd/lockbench/internal/report"
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
