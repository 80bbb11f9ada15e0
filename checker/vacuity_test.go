package checker

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestVacuity(t *testing.T) {
	const (
		noContention = "there was no contention: no two clients ever wanted one key at the same time"
		missed       = "faults were planned, but none was in force while a lock was possibly held"
	)
	faults := Options{FaultsExpected: true}
	all := "unknown unknown unknown unknown unknown"
	for _, c := range []struct {
		name, history string
		options       Options
		vacuous       []string
		verdicts      string // in the order of the bench
	}{
		{
			name:    "empty",
			vacuous: []string{"the history is empty"}, verdicts: all,
		},
		{
			name: "sound and tested",
			history: `
				A acquire 0 1 ok ttl=10
				B acquire 1 2 fail
				A read 2 3 ok version=0
				A write 3 4 ok version=0
				A release 5 6 ok`,
			verdicts: "pass pass pass pass pass",
		},
		{
			name: "one client after another",
			history: `
				A acquire 0 1 ok ttl=10
				A release 5 6 ok
				B acquire 7 8 ok
				B release 9 10 ok`,
			vacuous: []string{noContention}, verdicts: "unknown unknown unknown not-applicable unknown",
		},
		{
			name: "one client with itself",
			history: `
				A acquire 0 1 ok ttl=10
				A acquire 2 3 info
				A release 5 6 ok attempt=1`,
			vacuous: []string{noContention}, verdicts: "unknown unknown unknown not-applicable unknown",
		},
		{
			name: "contention without a refusal, against an attempt before the last",
			history: `
				A acquire 0 20 info
				A acquire 1 2 ok proc=5
				A release 3 4 ok proc=5
				B acquire 7 8 ok
				B release 9 10 ok`,
			verdicts: "pass pass pass not-applicable pass",
		},
		{
			name: "contention does not save a fail from being one",
			history: `
				A acquire 0 1 ok
				A acquire 2 3 ok
				A release 5 6 ok`,
			vacuous: []string{noContention}, verdicts: "fail fail unknown not-applicable unknown",
		},
		{
			name: "no fault came", options: faults,
			history: `
				A acquire 0 1 ok ttl=10
				B acquire 1 2 fail
				A release 5 6 ok
				! audit 5 node=m ttl=3`,
			vacuous: []string{missed}, verdicts: "unknown unknown unknown not-applicable unknown",
		},
		{
			name: "the fault came after the release", options: faults,
			history: `
				A acquire 0 1 ok ttl=10
				B acquire 1 2 fail
				A release 5 6 ok
				! kill 7 8
				B acquire 8 9 fail`,
			vacuous: []string{missed}, verdicts: "unknown unknown unknown not-applicable unknown",
		},
		{
			name: "the fault met a lease that a crash left behind", options: faults,
			history: `
				A acquire 0 1 ok ttl=10
				B acquire 1 2 ok ttl=10 key=other
				B release 2 3 ok key=other
				A release 2 3 fail
				! kill 7 8
				B acquire 9 10 ok
				C acquire 10 11 fail`,
			verdicts: "pass pass pass not-applicable pass",
		},
		{
			name: "a crash is a fault", options: faults,
			history: `
				A acquire 0 1 ok ttl=10
				B acquire 1 2 fail
				A crash 3
				B acquire 12 13 ok
				B release 14 15 ok`,
			verdicts: "pass pass pass not-applicable pass",
		},
		{
			name: "a fault that never healed", options: faults,
			history: `
				! cut 0 -
				A acquire 0 1 ok ttl=10
				B acquire 1 2 fail
				A release 3 4 ok`,
			verdicts: "pass pass pass not-applicable unknown",
		},
		{
			name: "acquire never succeeded",
			history: `
				A acquire 0 1 fail
				B acquire 0 1 info`,
			vacuous: []string{"acquire was tried 2 times and never succeeded"}, verdicts: "unknown unknown unknown not-applicable unknown",
		},
		{
			name: "release never succeeded",
			history: `
				A acquire 0 1 ok
				B acquire 1 2 fail
				A read 2 3 ok version=0
				A write 3 4 ok version=0
				A release 5 6 info`,
			vacuous: []string{"release was tried once and never succeeded"}, verdicts: "unknown unknown unknown pass unknown",
		},
		{
			name: "write never succeeded",
			history: `
				A acquire 0 1 ok
				B acquire 1 2 fail
				A read 2 3 ok version=0
				A write 3 4 fail
				A release 5 6 ok`,
			vacuous: []string{"write was tried once and never succeeded"}, verdicts: "pass pass pass unknown pass",
		},
		{
			name: "read never succeeded",
			history: `
				A acquire 0 1 ok
				B acquire 1 2 fail
				A read 2 3 fail
				A write 3 4 ok version=0
				A release 5 6 ok`,
			vacuous: []string{"read was tried once and never succeeded"}, verdicts: "pass pass pass unknown pass",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			report := Check(t.Context(), script(t, c.history), c.options)
			if diff := cmp.Diff(c.vacuous, report.Vacuous); diff != "" {
				t.Errorf("vacuous (-want +got):\n%s", diff)
			}
			if got := verdicts(report); got != c.verdicts {
				t.Errorf("verdicts\n%s, want\n%s", got, c.verdicts)
			}
		})
	}
}

// verdicts are those of a report, in the order of the bench.
func verdicts(r Report) string {
	text := ""
	for _, s := range bench() {
		if text != "" {
			text += " "
		}
		text += r.Result(s.property).Verdict.String()
	}
	return text
}
