package checker

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/lockbench/lockbench/histories"
)

func TestStrictExclusion(t *testing.T) {
	try(t, StrictExclusion, []trial{
		{
			name: "ok: one after the other",
			history: `
				A acquire 1 2 ok
				B acquire 3 4 fail
				A release 5 6 ok
				B acquire 7 8 ok
				B release 9 10 ok`,
			want: Pass, story: "2 grants, and none came while",
		},
		{
			name: "ok: granted while the release is on its way",
			history: `
				A acquire 1 2 ok
				A release 5 9 ok
				B acquire 4 6 ok
				B release 7 8 ok`,
			want: Pass,
		},
		{
			name: "bad: two holders",
			history: `
				A acquire 1 2 ok
				B acquire 3 14 ok
				A release 20 21 ok
				B release 22 23 ok`,
			want: Fail, story: "A held k from 0.002 s and still believed so when B was granted it at 0.014 s; A did not ask to release it before 0.020 s.",
			witness: []string{"2 A acquire ok", "14 B acquire ok"},
		},
		{
			name: "bad: the third overlaps the first",
			history: `
				A acquire 1 2 ok
				B acquire 3 4 ok
				B release 5 6 ok
				C acquire 7 8 ok
				C release 9 10 ok`,
			want: Fail, story: "A had not given it up when the history ended at 0.010 s. In all, 2 grants came while",
			witness: []string{"2 A acquire ok", "4 B acquire ok"},
		},
		{
			name: "bad: the same worker twice",
			history: `
				A acquire 1 2 ok
				A acquire 3 4 ok
				B acquire 4 5 fail
				A release 6 7 ok`,
			want: Fail, story: "when A was granted it again at",
		},
		{
			name: "ok: other keys do not count",
			history: `
				A acquire 1 2 ok key=x
				B acquire 3 4 ok key=y
				C acquire 4 5 fail key=x
				A release 5 6 ok key=x
				B release 5 6 ok key=y`,
			want: Pass,
		},
		{
			name: "ok: lost, abandon and crash end a belief",
			history: `
				A acquire 1 2 ok
				A lost 3
				B acquire 3 4 ok
				B abandon 5
				C acquire 5 6 ok
				C crash 7
				A acquire 7 8 ok
				B acquire 8 9 fail
				A release 9 10 ok`,
			want: Pass,
		},
		{
			name: "bad: lost came too late",
			history: `
				A acquire 1 2 ok
				B acquire 2 3 ok
				A lost 4
				B release 5 6 ok`,
			want: Fail, story: "A was not told that it was lost before 0.004 s",
		},
		{
			name: "bad: it walked away too late",
			history: `
				A acquire 1 2 ok
				B acquire 2 3 ok
				A abandon 4
				B release 5 6 ok`,
			want: Fail, story: "A did not walk away before 0.004 s",
		},
		{
			name: "bad: it crashed too late",
			history: `
				A acquire 1 2 ok
				B acquire 2 3 ok
				A crash 4
				B release 5 6 ok`,
			want: Fail, story: "A did not crash before 0.004 s",
		},
		{
			name: "ok: a refused release ends a belief",
			history: `
				A acquire 1 2 ok
				C acquire 2 3 fail
				A release 3 6 fail
				B acquire 4 5 ok
				B release 7 8 ok`,
			want: Pass,
		},
		{
			name: "ok: a release of unknown outcome ends a belief",
			history: `
				A acquire 1 2 ok
				C acquire 2 3 fail
				A release 3 4 info
				B acquire 5 6 ok
				B release 7 8 ok`,
			want: Pass,
		},
		{
			name: "bad: a release of unknown outcome that came after the second grant",
			history: `
				A acquire 1 2 ok
				B acquire 3 4 ok
				A release 5 - open
				B release 7 8 ok`,
			want: Fail,
		},
		{
			name: "ok: the first of two releases ends the belief",
			history: `
				A acquire 1 2 ok
				C acquire 2 3 fail
				A release 3 4 info
				B acquire 5 6 ok
				A release 7 8 fail
				B release 9 10 ok`,
			want: Pass,
		},
		{
			name: "ok: an acquire of unknown outcome was never believed",
			history: `
				A acquire 1 9 info
				B acquire 2 3 ok
				B release 4 5 ok`,
			want: Pass,
		},
		{
			name: "ok: an acquire of unknown outcome surfaced in a gap",
			history: `
				A acquire 1 3 info
				A release 6 10 ok
				C acquire 4 5 fail
				B acquire 4 5 ok
				B release 7 8 ok`,
			want: Pass, story: "2 grants",
		},
		{
			name: "bad: an acquire of unknown outcome surfaced inside another belief",
			history: `
				A acquire 1 3 info
				B acquire 4 5 ok
				A release 6 8 ok
				B release 9 10 ok`,
			want: Fail, story: "A's acquire of k had no known outcome, but its release answered OK at 0.008 s",
			witness: []string{"5 B acquire ok", "6 A release invoke", "8 A release ok"},
		},
		{
			name: "bad: it surfaced by a release inside another belief, and by an extend after that",
			history: `
				A acquire 1 3 info
				B acquire 4 5 ok
				A release 6 8 ok
				B release 9 10 ok
				A extend 11 12 ok`,
			want: Fail, story: "but its release answered OK at 0.008 s",
			witness: []string{"5 B acquire ok", "6 A release invoke", "8 A release ok"},
		},
		{
			name: "ok: equal times, in order of events",
			history: `
				A acquire 1 2 ok
				A release 2 3 ok
				B acquire 1 2 ok
				B release 3 4 ok`,
			want: Pass,
		},
		{
			name: "bad: equal times, in the other order of events",
			history: `
				B acquire 1 2 ok
				A acquire 1 2 ok
				A release 2 3 ok
				B release 3 4 ok`,
			want: Fail,
		},
		{
			name: "bad: a pause longer than the lease",
			history: `
				A acquire 1 2 ok ttl=10 deadline=11
				B acquire 14 15 ok ttl=10 deadline=24
				A release 20 21 fail
				B release 22 23 ok`,
			want: Fail,
		},
		{
			name:    "unknown: nobody was granted anything",
			history: `A acquire 1 2 fail`,
			want:    Unknown, story: "Nobody was granted a lock",
		},
	})
}

func TestLeaseExclusion(t *testing.T) {
	try(t, LeaseExclusion, []trial{
		{
			name: "ok: granted after the deadline told to the other",
			history: `
				A acquire 1 2 ok ttl=10 deadline=11
				B acquire 10 12 ok ttl=10 deadline=20
				A release 20 21 fail
				B release 22 23 ok`,
			want: Pass,
		},
		{
			name: "ok: granted at the deadline itself",
			history: `
				A acquire 1 2 ok ttl=10 deadline=11
				B acquire 10 11 ok ttl=10 deadline=20
				A release 20 21 fail
				B release 22 23 ok`,
			want: Pass,
		},
		{
			name: "bad: granted just before the deadline",
			history: `
				A acquire 1 2 ok ttl=10 deadline=11
				B acquire 9 10.999 ok ttl=10 deadline=20
				A release 20 21 fail
				B release 22 23 ok`,
			want: Fail, story: "A had been told that its lease ran until 0.011 s.",
			witness: []string{"2 A acquire ok", "10.999 B acquire ok"},
		},
		{
			name: "bad: no deadline is for ever",
			history: `
				A acquire 1 2 ok ttl=10
				B acquire 90 91 ok ttl=10
				A release 99 100 fail
				B release 100 101 ok`,
			want: Fail,
		},
		{
			name: "ok: the deadline had passed when it was told",
			history: `
				A acquire 1 20 ok ttl=10 deadline=11
				B acquire 14 15 ok ttl=10 deadline=24
				B release 22 23 ok
				A release 24 25 fail`,
			want: Pass, story: "2 grants",
		},
		{
			name: "ok: a deadline that passed without any event",
			history: `
				A acquire 1 2 ok ttl=10 deadline=5
				B acquire 4 8 ok ttl=10 deadline=14
				B release 9 10 ok`,
			want: Pass,
		},
		{
			name: "bad: extended in time",
			history: `
				A acquire 1 2 ok ttl=10 deadline=11
				A extend 8 9 ok ttl=10 deadline=18
				B acquire 14 15 ok ttl=10 deadline=24
				B release 16 17 ok`,
			want: Fail, story: "its lease ran until 0.018 s",
		},
		{
			name: "ok: a refused extend moves no deadline",
			history: `
				A acquire 1 2 ok ttl=10 deadline=11
				A extend 8 9 fail ttl=10 deadline=18
				B acquire 14 15 ok ttl=10 deadline=24
				B release 16 17 ok`,
			want: Pass,
		},
		{
			name: "ok: extended after the deadline, nobody believed in between",
			history: `
				A acquire 1 2 ok ttl=10 deadline=11
				A extend 10 20 ok ttl=10 deadline=30
				B acquire 12 13 ok ttl=3 deadline=15
				B release 14 16 ok
				A release 29 30 ok`,
			want: Pass, story: "3 grants",
		},
		{
			name: "bad: extended after the deadline while another believed",
			history: `
				A acquire 1 2 ok ttl=10 deadline=11
				A extend 10 20 ok ttl=10 deadline=30
				B acquire 12 13 ok ttl=10 deadline=22
				B release 24 26 ok
				A release 29 30 ok`,
			want: Fail, story: "when A had it extended at 0.020 s",
		},
		{
			name: "ok: a shorter lease by extend",
			history: `
				A acquire 1 2 ok ttl=100 deadline=101
				A extend 3 4 ok ttl=5 deadline=8
				B acquire 9 10 ok ttl=10 deadline=19
				B release 16 17 ok`,
			want: Pass,
		},
		{
			name: "ok: an extend after the release is of no account",
			history: `
				A acquire 1 2 ok ttl=10 deadline=11
				A extend 3 9 ok ttl=10 deadline=13 proc=1
				C acquire 3 4 fail
				A release 4 5 ok
				B acquire 6 7 ok ttl=10 deadline=16
				B release 10 11 ok`,
			want: Pass,
		},
	})
}

// The engines judge alone, so each must be able to stop a verdict.
func TestExclusionEngines(t *testing.T) {
	good := `
		A acquire 1 2 ok
		B acquire 2 3 fail
		A release 3 4 ok`
	bad := `
		A acquire 1 2 ok
		B acquire 3 4 ok
		A release 5 6 ok`
	says := func(r porcupine.CheckResult) func(context.Context, []section, time.Duration) porcupine.CheckResult {
		return func(context.Context, []section, time.Duration) porcupine.CheckResult { return r }
	}
	for _, c := range []struct {
		name, history string
		porcupine     porcupine.CheckResult
		story         string
		harness       bool
	}{
		{"porcupine accuses alone", good, porcupine.Illegal, "checker disagreement: on k porcupine says Illegal, the interval engine found 0 overlaps", true},
		{"the interval engine accuses alone", bad, porcupine.Ok, "checker disagreement: on k porcupine says Ok, the interval engine found 1 overlap", true},
		{"porcupine runs out of time on a good history", good, porcupine.Unknown, "no answer on k in its time; the interval engine found 0 overlaps", false},
		{"porcupine runs out of time on a bad history", bad, porcupine.Unknown, "no answer on k in its time; the interval engine found 1 overlap.", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := func(rec *record, _ Options) judge {
				return &exclusion{record: rec, read: strictSections, interval: sweep, porcupine: says(c.porcupine)}
			}
			report := check(t.Context(), script(t, c.history), Options{}, []spec{{property: StrictExclusion, judge: x}})
			got := report.Result(StrictExclusion)
			want := Unknown
			if c.harness {
				want = Disagreement
			}
			if report.Verdict != want || got.Verdict != want || len(got.Witness) > 0 || !strings.Contains(got.Story, c.story) {
				t.Errorf("report %v, result %+v, want %v with %q", report.Verdict, got, want, c.story)
			}
			if (len(report.HarnessErrors) > 0) != c.harness {
				t.Errorf("harness errors %q, want some: %v", report.HarnessErrors, c.harness)
			}
		})
	}
}

// hard is a set of sections that take porcupine exponential time: n acquires that
// surfaced together, in any order, and then two holders.
func hard(n int) []section {
	var sections []section
	hold := new(histories.Hold)
	for i := range n {
		returned := rank(1001 + 2*i)
		sections = append(sections, section{hold: hold, call: 1, granted: returned, end: 3, bound: returned, surfaced: true})
	}
	return append(sections, section{hold: hold, call: 1, granted: 2001, end: never}, section{hold: hold, call: 1, granted: 2003, end: never})
}

func TestPorcupineStopsInTime(t *testing.T) {
	t.Run("budget", func(t *testing.T) {
		if got := linearizable(t.Context(), hard(40), time.Millisecond); got != porcupine.Unknown {
			t.Errorf("got %v, want %v", got, porcupine.Unknown)
		}
	})
	t.Run("context", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if got := linearizable(ctx, hard(40), time.Hour); got != porcupine.Unknown {
			t.Errorf("got %v, want %v", got, porcupine.Unknown)
		}
	})
}
