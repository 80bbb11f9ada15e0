package scenarios

import (
	"github.com/lockbench/lockbench/checker"
	w "github.com/lockbench/lockbench/workloads"
)

func renewalPoolExhausted() Scenario {
	lost := checker.Expectation{
		checker.StrictExclusion: checker.Fail,
		checker.ResourceSafety:  checker.Fail,
	}
	const threads = 10 // that D's lock has to renew leases
	var steps []w.Step
	for key := range threads + 1 {
		steps = append(steps, w.AcquireKey("A", key+1))
	}
	return Scenario{
		ID:     "P61",
		Name:   "renewal-pool-exhausted",
		Title:  "a process holds more locks than it has threads to renew them",
		Source: "D",
		Why: "Each lease takes a thread for itself until it is released or renewed for the last time, and there are ten. A's eleventh lease " +
			"waited for a thread and was never renewed: it ended under A's section, and B got the lock.",
		Keys: threads + 1,
		Script: w.Script{Cast: 2, Steps: append([]w.Step{w.FarFromServers("A")}, append(steps, []w.Step{
			w.Read("A"),
			w.SectionLasts("A", threads+1, 1.2),
			w.BeganTogether("A", threads+1),
			w.AcquireKey("B", threads+1),
			w.Read("B"),
			w.Write("B"),
			w.Write("A"),
			w.Release("A"),
			w.Release("B"),
		}...)...)},
		TTL: virtualTTL, RealTTL: virtualTTL, // so many leases begin together also on a busy machine
		Cases: []Case{
			// D with P34 repaired, which would hide this one: see renew-naive below.
			{Lock: "renew-naive-early", Want: lost},
			{Lock: "renew-naive", Want: lost, Note: "D's own lock loses the lease here, too, but a whole TTL between renewals (P34) is reason enough."},
			{Lock: "watchdog"},
		},
	}
}
