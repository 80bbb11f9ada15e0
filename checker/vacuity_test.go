package checker

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestVacuity(t *testing.T) {
	const (
		noContention = "there was no contention: no two clients ever wanted one key at the same time"
		noAnswer     = "nobody was granted or refused a key while another client wanted it: acquires that met had no answer"
		missed       = "faults were planned, but none was in force while a lock was possibly held"
	)
	faults := Options{FaultsExpected: true}
	all := "all unknown"
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
			verdicts: "not-applicable fairness",
		},
		{
			name: "a step missed the lock",
			history: `
				A acquire 0 1 ok ttl=10
				! missed 1 value=step-3-hit-nothing
				B acquire 1 2 fail
				A read 2 3 ok version=0
				A write 3 4 ok version=0
				A release 5 6 ok`,
			vacuous: []string{"step-3-hit-nothing"}, verdicts: "unknown mutual-exclusion lease-exclusion lease-honoured ownership truthful-replies resource-safety deadlock-freedom availability; not-applicable fairness",
		},
		{
			name: "one client after another",
			history: `
				A acquire 0 1 ok ttl=10
				A release 5 6 ok
				B acquire 7 8 ok
				B release 9 10 ok`,
			vacuous: []string{noContention}, verdicts: "unknown mutual-exclusion lease-exclusion lease-honoured ownership truthful-replies deadlock-freedom availability; not-applicable resource-safety fairness",
		},
		{
			name: "one client whose arguments were refused",
			history: `
				A acquire 0 1 ok ttl=10
				B acquire 2 3 fail value=invalid
				A release 5 6 ok`,
			vacuous: []string{noContention}, verdicts: "unknown mutual-exclusion lease-exclusion lease-honoured ownership truthful-replies deadlock-freedom availability; not-applicable resource-safety fairness",
		},
		{
			name: "one client whom the server rejected",
			history: `
				A acquire 0 1 ok ttl=10
				B acquire 2 3 fail value=rejected
				A release 5 6 ok`,
			vacuous: []string{noContention}, verdicts: "unknown mutual-exclusion lease-exclusion lease-honoured ownership truthful-replies deadlock-freedom availability; not-applicable resource-safety fairness",
		},
		{
			name: "one client with itself",
			history: `
				A acquire 0 1 ok ttl=10
				A acquire 2 3 info
				A release 5 6 ok attempt=1`,
			vacuous: []string{noContention}, verdicts: "unknown mutual-exclusion lease-exclusion lease-honoured ownership truthful-replies deadlock-freedom availability; not-applicable resource-safety fairness",
		},
		{
			name: "the second client never had an answer",
			history: `
				A acquire 0 1 ok ttl=10
				B acquire 2 3 info
				B acquire 4 5 info
				A read 6 7 ok version=0
				A release 8 9 ok`,
			vacuous: []string{noAnswer}, verdicts: "unknown mutual-exclusion lease-exclusion lease-honoured resource-safety; not-applicable fairness",
		},
		{
			name: "the second client had an answer when it asked again",
			history: `
				A acquire 0 1 ok ttl=10
				B acquire 2 3 info
				B acquire 4 5 fail proc=7
				A release 6 7 ok`,
			verdicts: "not-applicable resource-safety fairness",
		},
		{
			name: "the second client had no answer when it asked, and one when it released",
			history: `
				A acquire 0 1 ok ttl=10
				B acquire 2 3 info ttl=10
				B release 4 5 ok`,
			verdicts: "fail mutual-exclusion lease-exclusion lease-honoured; not-applicable resource-safety fairness",
		},
		{
			name: "one client was granted the lock while the other still asked",
			history: `
				A acquire 0 3 ok ttl=10
				B acquire 2 5 info
				A release 6 7 ok`,
			verdicts: "not-applicable resource-safety fairness",
		},
		{
			name: "contention without a refusal, against an attempt before the last",
			history: `
				A acquire 0 20 info
				A acquire 1 2 ok proc=5
				A release 3 4 ok proc=5
				B acquire 7 8 ok
				B release 9 10 ok`,
			verdicts: "not-applicable lease-honoured resource-safety fairness",
		},
		{
			name: "contention does not save a fail from being one",
			history: `
				A acquire 0 1 ok
				A acquire 2 3 ok
				A release 5 6 ok`,
			vacuous: []string{noContention}, verdicts: "unknown ownership truthful-replies deadlock-freedom availability; fail mutual-exclusion lease-exclusion; not-applicable lease-honoured resource-safety fairness",
		},
		{
			name: "no fault came", options: faults,
			history: `
				A acquire 0 1 ok ttl=10
				B acquire 1 2 fail
				A release 5 6 ok
				! audit 5 node=m ttl=3`,
			vacuous: []string{missed}, verdicts: "unknown mutual-exclusion lease-exclusion lease-honoured ownership truthful-replies deadlock-freedom availability; not-applicable resource-safety fairness",
		},
		{
			name: "the fault came after the release", options: faults,
			history: `
				A acquire 0 1 ok ttl=10
				B acquire 1 2 fail
				A release 5 6 ok
				! kill 7 8
				B acquire 8 9 fail`,
			vacuous: []string{missed}, verdicts: "unknown mutual-exclusion lease-exclusion lease-honoured ownership truthful-replies deadlock-freedom availability; not-applicable resource-safety fairness",
		},
		{
			name: "the fault met an acquire that was refused", options: faults,
			history: `
				A acquire 0 1 ok ttl=10
				B acquire 1 2 fail
				A release 5 6 ok
				! pause 7 10 node=B
				B acquire 8 9 fail`,
			verdicts: "unknown deadlock-freedom; fail truthful-replies; not-applicable resource-safety fairness",
		},
		{
			name: "the fault met an acquire that was refused, and ended first", options: faults,
			history: `
				A acquire 0 1 ok ttl=10
				B acquire 1 2 fail
				A release 5 6 ok
				! kill 7 9
				B acquire 8 10 fail`,
			verdicts: "unknown deadlock-freedom; not-applicable resource-safety fairness",
		},
		{
			name: "the fault met an acquire that the server rejected", options: faults,
			history: `
				A acquire 0 1 ok ttl=10
				B acquire 1 2 fail
				A release 5 6 ok
				! kill 7 10
				B acquire 8 9 fail value=rejected`,
			vacuous: []string{missed}, verdicts: "unknown mutual-exclusion lease-exclusion lease-honoured ownership truthful-replies deadlock-freedom availability; not-applicable resource-safety fairness",
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
			verdicts: "fail truthful-replies; not-applicable resource-safety fairness",
		},
		{
			name: "a crash is a fault", options: faults,
			history: `
				A acquire 0 1 ok ttl=10
				B acquire 1 2 fail
				A crash 3
				B acquire 12 13 ok
				B release 14 15 ok`,
			verdicts: "not-applicable resource-safety fairness",
		},
		{
			name: "a fault that never healed", options: faults,
			history: `
				! cut 0 -
				A acquire 0 1 ok ttl=10
				B acquire 1 2 fail
				A release 3 4 ok`,
			verdicts: "unknown deadlock-freedom; not-applicable resource-safety fairness",
		},
		{
			name: "acquire never succeeded",
			history: `
				A acquire 0 1 fail
				B acquire 0 1 info`,
			vacuous: []string{"acquire was tried 2 times and never succeeded"}, verdicts: "unknown mutual-exclusion lease-exclusion ownership deadlock-freedom availability; not-applicable lease-honoured truthful-replies resource-safety fairness",
		},
		{
			name: "release never succeeded",
			history: `
				A acquire 0 1 ok
				B acquire 1 2 fail
				A read 2 3 ok version=0
				A write 3 4 ok version=0
				A release 5 6 info`,
			vacuous: []string{"release was tried once and never succeeded"}, verdicts: "unknown mutual-exclusion lease-exclusion ownership deadlock-freedom availability; not-applicable lease-honoured truthful-replies fairness",
		},
		{
			name: "write never succeeded",
			history: `
				A acquire 0 1 ok
				B acquire 1 2 fail
				A read 2 3 ok version=0
				A write 3 4 fail
				A release 5 6 ok`,
			vacuous: []string{"write was tried once and never succeeded"}, verdicts: "unknown resource-safety; not-applicable lease-honoured fairness",
		},
		{
			name: "read never succeeded",
			history: `
				A acquire 0 1 ok
				B acquire 1 2 fail
				A read 2 3 fail
				A write 3 4 ok version=0
				A release 5 6 ok`,
			vacuous: []string{"read was tried once and never succeeded"}, verdicts: "unknown resource-safety; not-applicable lease-honoured fairness",
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

// verdicts are the properties of a report that do not pass: "fail ownership; unknown a b",
// or "all unknown".
func verdicts(r Report) string {
	var groups []string
	for v := Unknown; v <= Disagreement; v++ {
		group := v.String()
		for _, res := range r.Results {
			if res.Verdict == v && v != Pass {
				group += " " + string(res.Property)
			}
		}
		switch n := strings.Count(group, " "); {
		case n == len(r.Results):
			return "all " + v.String()
		case n > 0:
			groups = append(groups, group)
		}
	}
	return strings.Join(groups, "; ")
}
