package scenarios

import (
	"github.com/lockbench/lockbench/checker"
	w "github.com/lockbench/lockbench/workloads"
)

func renewalFullTTLSleep() Scenario {
	return Scenario{
		ID:     "P34",
		Name:   "renewal-full-ttl-sleep",
		Title:  "renewals come a whole TTL apart",
		Source: "D",
		Why: "The renewal sleeps for as long as the lease lasts. When it wakes the lease has ended, by as much as its last reply took " +
			"on its way. A worked on, and B got the lock.",
		Script: w.Script{Cast: 2, Steps: []w.Step{
			w.FarFromServers("A"),
			w.Acquire("A"),
			w.Read("A"),
			w.SectionLasts("A", 1, 1.5),
			w.Acquire("B"),
			w.Read("B"),
			w.Write("B"),
			w.Write("A"),
			w.Release("A"),
			w.Release("B"),
		}},
		TTL: virtualTTL, RealTTL: 2 * waitedFor,
		Cases: []Case{
			{Lock: "renew-naive", Want: checker.Expectation{
				checker.StrictExclusion: checker.Fail,
				checker.ResourceSafety:  checker.Fail,
			}},
			{Lock: "watchdog"},
			{Lock: "redisson-style"},
			{Lock: "renew-naive-early", Note: "D's lock with this one thing repaired: it renews every third of the TTL."},
		},
	}
}
