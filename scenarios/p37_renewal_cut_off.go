package scenarios

import (
	"github.com/lockbench/lockbench/checker"
	w "github.com/lockbench/lockbench/workloads"
)

func renewalCutOff() Scenario {
	return Scenario{
		ID:     "P37",
		Name:   "renewal-cut-off",
		Title:  "renewals get lost on the network for longer than the lease",
		Source: "C, redisson#4698",
		Why: "No renewal arrived, so A's lease ended on the server, as it has to. The lock knew before that it could not hold it and told " +
			"nobody, or A did not listen: A worked on beside B and overwrote what B wrote.",
		Script: w.Script{Cast: 2, Steps: []w.Step{
			w.Acquire("A"),
			w.Read("A"),
			w.Acquire("B"),
			w.RenewalsGetLost("A"),
			w.LeaseEnds(),
			w.RenewalsArrive("A"),
			w.Acquire("B"),
			w.Read("B"),
			w.Write("B"),
			w.Write("A"),
			w.Release("A"),
			w.Release("B"),
		}},
		TTL: virtualTTL, RealTTL: waitedFor,
		Cases: []Case{
			{Lock: "watchdog-untold", Want: checker.Expectation{
				checker.StrictExclusion: checker.Fail,
				checker.ResourceSafety:  checker.Fail,
			}},
			{Lock: "watchdog", Note: "A was told of the loss before the lease could end, and stopped: there was no section left for B to meet."},
			{Lock: "redisson-style"},
		},
	}
}
