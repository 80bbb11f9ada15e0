package checker_test

import (
	"testing"

	"github.com/lockbench/lockbench/checker"
)

func report(verdicts map[checker.Property]checker.Verdict) checker.Report {
	var r checker.Report
	var all []checker.Verdict
	for _, p := range []checker.Property{checker.StrictExclusion, checker.LeaseExclusion, checker.ResourceSafety} {
		r.Results = append(r.Results, checker.Result{Property: p, Verdict: verdicts[p]})
		all = append(all, verdicts[p])
	}
	r.Verdict = checker.NotApplicable.Merge(all...)
	return r
}

func TestCompare(t *testing.T) {
	const (
		strict = checker.StrictExclusion
		lease  = checker.LeaseExclusion
		res    = checker.ResourceSafety
	)
	type verdicts = map[checker.Property]checker.Verdict
	for name, tc := range map[string]struct {
		got  verdicts
		want checker.Expectation
		out  checker.Outcome
	}{
		"all pass":                   {verdicts{strict: checker.Pass, lease: checker.Pass, res: checker.Pass}, nil, checker.AsExpected},
		"does not apply":             {verdicts{strict: checker.Pass, lease: checker.Pass, res: checker.NotApplicable}, nil, checker.AsExpected},
		"unknown is not pass":        {verdicts{strict: checker.Pass, lease: checker.Pass}, nil, checker.Undecided},
		"fails":                      {verdicts{strict: checker.Fail, lease: checker.Pass, res: checker.Pass}, nil, checker.Unexpected},
		"fails as wanted":            {verdicts{strict: checker.Fail, lease: checker.Pass, res: checker.Pass}, checker.Expectation{strict: checker.Fail}, checker.AsExpected},
		"no longer caught":           {verdicts{strict: checker.Pass, lease: checker.Pass, res: checker.Pass}, checker.Expectation{strict: checker.Fail}, checker.Unexpected},
		"not decided, not caught":    {verdicts{lease: checker.Pass, res: checker.Pass}, checker.Expectation{strict: checker.Fail}, checker.Undecided},
		"unknown as wanted":          {verdicts{lease: checker.Pass, res: checker.Pass}, checker.Expectation{strict: checker.Unknown}, checker.AsExpected},
		"named must not be n/a":      {verdicts{strict: checker.NotApplicable, lease: checker.Pass, res: checker.Pass}, checker.Expectation{strict: checker.Pass}, checker.Undecided},
		"a break that was not tried": {verdicts{strict: checker.Fail, lease: checker.Pass, res: checker.NotApplicable}, checker.Expectation{strict: checker.Fail, res: checker.Fail}, checker.Undecided},
		"nothing wanted":             {verdicts{strict: checker.Fail, lease: checker.Pass, res: checker.Pass}, checker.Expectation{strict: checker.NotApplicable}, checker.AsExpected},
		"a failure beats a question": {verdicts{strict: checker.Fail, res: checker.Pass}, nil, checker.Unexpected},
	} {
		t.Run(name, func(t *testing.T) {
			out, judged := checker.Compare(report(tc.got), tc.want)
			if out != tc.out || len(judged) != 3 {
				t.Errorf("got %v, %+v; want %v", out, judged, tc.out)
			}
		})
	}
	if out, _ := checker.Compare(checker.Report{}, nil); out != checker.Undecided {
		t.Errorf("a report of nothing is %v", out)
	}
	broken := report(verdicts{strict: checker.Pass, lease: checker.Pass, res: checker.Pass})
	for _, v := range []checker.Verdict{checker.Fail, checker.Pass} { // the history had nothing to do with it
		out, judged := checker.Compare(broken, checker.Expectation{checker.Load: v})
		if out != checker.Undecided || len(judged) != 4 || judged[3].Met || judged[3].Property != checker.Load {
			t.Errorf("load should %v and was not judged: %v, %+v", v, out, judged)
		}
	}
	if out, judged := checker.Compare(broken, checker.Expectation{checker.Load: checker.NotApplicable}); out != checker.AsExpected || len(judged) != 3 {
		t.Errorf("nothing is wanted of load, and it was not judged: %v, %+v", out, judged)
	}
	broken.HarnessErrors = []string{"the recorder lied"}
	if out, _ := checker.Compare(broken, nil); out != checker.Undecided {
		t.Errorf("a report with harness errors is %v", out)
	}
}

func TestJudgementOfAll(t *testing.T) {
	pass := report(map[checker.Property]checker.Verdict{checker.StrictExclusion: checker.Pass, checker.LeaseExclusion: checker.Pass, checker.ResourceSafety: checker.Pass})
	fail := report(map[checker.Property]checker.Verdict{checker.StrictExclusion: checker.Fail})
	for _, tc := range []struct {
		r    checker.Report
		want checker.Verdict
		out  checker.Outcome
	}{
		{pass, checker.Pass, checker.AsExpected},
		{fail, checker.Pass, checker.Unexpected},
		{pass, checker.Fail, checker.Unexpected},
		{fail, checker.Fail, checker.AsExpected},
		{report(nil), checker.Fail, checker.Undecided},
		{report(nil), checker.Pass, checker.Undecided},
	} {
		if j, err := checker.NewJudgement(tc.r, nil, tc.want); err != nil || j.Outcome != tc.out {
			t.Errorf("a report that is %v against %v: %v, %v; want %v", tc.r.Verdict, tc.want, j.Outcome, err, tc.out)
		}
	}
	if _, err := checker.NewJudgement(pass, nil, checker.Disagreement); err == nil {
		t.Error("a disagreement can be expected")
	}
}

func TestOutcomeOr(t *testing.T) {
	order := []checker.Outcome{checker.AsExpected, checker.Undecided, checker.Unexpected}
	for i, a := range order {
		for j, b := range order {
			if got := a.Or(b); got != order[max(i, j)] {
				t.Errorf("%v or %v = %v", a, b, got)
			}
		}
	}
}
