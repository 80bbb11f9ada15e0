package checker

import (
	"strings"
	"testing"
)

func TestResourceSafety(t *testing.T) {
	try(t, ResourceSafety, []trial{
		{
			name: "bad: one write of unknown outcome does not explain two versions",
			history: `
				A acquire 0 1 ok
				B acquire 1 2 ok
				A read 3 4 ok version=0
				A write 5 6 info
				A write 7 8 ok version=1 proc=2
				B write 9 10 info
				A write 11 12 ok version=3 proc=2`,
			want: Fail, story: "1 update lost",
		},
		{
			name: "bad: nor one that a read has seen",
			history: `
				A acquire 0 1 ok
				B acquire 1 2 ok
				A read 3 4 ok version=0
				A write 5 6 info
				A read 7 8 ok version=1 proc=2
				B write 9 10 info
				A read 11 12 ok version=2 proc=2`,
			want: Fail, story: "unstable read",
		},
		{
			name: "ok: one after the other",
			history: `
				A acquire 0 1 ok
				B acquire 1 2 fail
				A read 2 3 ok version=0
				A write 4 5 ok version=0
				A write 5 6 ok version=1
				A release 6 7 ok
				B acquire 8 9 ok
				B read 10 11 ok version=2
				B write 12 13 ok version=2`,
			want: Pass, story: "3 accepted writes",
		},
		{
			name: "bad: a lost update",
			history: `
				A acquire 0 1 ok
				B acquire 1 2 ok
				A read 3 4 ok version=0
				B read 5 6 ok version=0
				B write 7 8 ok version=0
				A write 9 10 ok version=1
				A release 11 12 ok`,
			want: Fail, story: "A last saw version 0 of k at 0.004 s, but its write at 0.010 s overwrote version 1, which B had written at 0.008 s and A had not seen: 1 update lost.",
			witness: []string{"4 A read ok", "8 B write ok", "10 A write ok"},
		},
		{
			name: "bad: two updates lost",
			history: `
				A acquire 0 1 ok
				B acquire 1 2 ok
				A read 3 4 ok version=0
				B read 5 6 ok version=0
				B write 7 8 ok version=0
				B write 8 9 ok version=1
				A write 9 10 ok version=2
				A release 11 12 ok`,
			want: Fail, story: "2 updates lost",
		},
		{
			name: "bad: a version that nobody is known to have written",
			history: `
				A acquire 0 1 ok
				B acquire 1 2 ok
				A read 3 4 ok version=0
				B read 5 6 ok version=0
				B write 7 8 info
				A write 9 10 ok version=1
				A release 11 12 ok`,
			want: Fail, story: "which somebody whose write has no known outcome had written and A had not seen: 1 update lost",
		},
		{
			name: "ok: one's own write of unknown outcome explains the version",
			history: `
				A acquire 0 1 ok
				B acquire 1 2 fail
				A read 3 4 ok version=0
				A write 5 6 info
				A write 9 10 ok version=1`,
			want: Pass,
		},
		{
			name: "bad: one's own write of unknown outcome explains only one version",
			history: `
				A acquire 0 1 ok
				B acquire 1 2 fail
				A read 3 4 ok version=0
				A write 5 6 info
				A write 9 10 ok version=2`,
			want: Fail, story: "1 update lost",
		},
		{
			name: "ok: a refused write is a guard at work",
			history: `
				A acquire 0 1 ok token=1
				B acquire 1 2 ok token=2
				A read 3 4 ok version=0 token=1
				B read 5 6 ok version=0 token=2
				B write 7 8 ok version=0 token=2
				A write 9 10 fail token=1`,
			want: Pass,
		},
		{
			name: "bad: a stale token after a write",
			history: `
				A acquire 0 1 ok token=1
				B acquire 1 2 ok token=2
				B read 3 4 ok version=0
				B write 5 6 ok version=0 token=2
				A read 7 8 ok version=1
				A write 9 10 ok version=1 token=1`,
			want: Fail, story: "A's write of k with token 1 was accepted at 0.010 s although B had shown token 2 before it, at 0.006 s: 1 write with a stale token accepted.",
			witness: []string{"6 B write ok", "10 A write ok"},
		},
		{
			name: "bad: a stale token after a read",
			history: `
				A acquire 0 1 ok token=1
				B acquire 1 2 ok token=2
				A read 2 3 ok version=0 token=1
				B read 3 4 ok version=0 token=2
				A write 9 10 ok version=0 token=1`,
			want: Fail, story: "1 write with a stale token accepted",
		},
		{
			name: "ok: the higher token came after the write",
			history: `
				A acquire 0 1 ok token=1
				B acquire 1 2 ok token=2
				A read 2 3 ok version=0 token=1
				A write 4 10 ok version=0 token=1
				B read 5 9 ok version=1 token=2
				B write 11 12 ok version=1 token=2`,
			want: Pass,
		},
		{
			name: "unknown: writes without reads are not judged",
			history: `
				A acquire 0 1 ok
				B acquire 1 2 fail
				B read 2 3 ok version=0
				A write 4 10 ok version=0`,
			want: Unknown, story: "1 write came without a read by the same attempt and could not be judged.",
		},
		{
			name: "n/a: no resource",
			history: `
				A acquire 0 1 ok
				B acquire 1 2 fail`,
			want: NotApplicable,
		},
	})
}

func TestBrokenRegister(t *testing.T) {
	for name, c := range map[string]struct{ history, want string }{
		"the same version replaced twice": {
			`A acquire 0 1 ok
			 B acquire 1 2 ok
			 A read 3 4 ok version=0
			 B read 5 6 ok version=0
			 B write 7 8 ok version=0
			 A write 9 10 ok version=0`,
			"the register k is broken: the writes of events 9 and 11 both replaced version 0",
		},
		"a version that goes back": {
			`A acquire 0 1 ok
			 A read 3 4 ok version=5
			 A read 5 6 ok version=4`,
			"found version 4, but version 5 had been seen before it was invoked",
		},
		"a version that nobody wrote": {
			`A acquire 0 1 ok
			 B acquire 1 2 ok
			 A write 3 4 ok version=0
			 B read 5 6 ok version=3
			 B write 7 8 ok version=3`,
			"the read of event 7 found version 3, but there had been 1 write since version 0",
		},
		"a write that is not seen": {
			`A acquire 0 1 ok
			 A write 3 4 ok version=0
			 A read 5 6 ok version=0`,
			"found version 0, but version 1 had been seen before it was invoked",
		},
	} {
		t.Run(name, func(t *testing.T) {
			report := Check(t.Context(), script(t, c.history), Options{})
			got := report.Result(ResourceSafety)
			if got.Verdict != Unknown || len(report.HarnessErrors) != 1 || !strings.Contains(report.HarnessErrors[0], c.want) {
				t.Errorf("verdict %v, harness errors %q, want unknown and %q", got.Verdict, report.HarnessErrors, c.want)
			}
		})
	}
}
