package scenarios

import (
	"github.com/lockbench/lockbench/checker"
	w "github.com/lockbench/lockbench/workloads"
)

func rwSameMillisecond() Scenario {
	return Scenario{
		ID:     "P43",
		Name:   "rw-same-millisecond",
		Title:  "two readers of the same millisecond have the same token",
		Source: "E 2",
		Why: "What proves a hold is the client's time in milliseconds. A and B came in the same one, so that A's release took B's " +
			"hold for its own and removed it: a writer came in while B was still reading.",
		Faultless: true,
		InProcess: "whether two of them saw the same millisecond is known only of clocks in lockbench's own process",
		Script: w.Script{Cast: 3, Steps: []w.Step{
			w.AcquireReadTogether("A", "B"),
			w.Read("A"),
			w.Read("B"),
			w.Release("A"),
			w.Acquire("C"),
			w.Read("C"),
			w.Write("C"),
			w.Read("B"),
			w.Release("B"),
			w.Release("C"),
			w.Acquire("C"),
			w.Read("C"),
			w.Write("C"),
			w.Release("C"),
		}},
		TTL: virtualTTL, RealTTL: unhurriedly,
		Cases: []Case{
			{Lock: "rw-hash-timestamp", Want: checker.Expectation{
				checker.StrictExclusion: checker.Fail,
				checker.LeaseExclusion:  checker.Fail,
				checker.LeaseHonoured:   checker.Fail,
				checker.Ownership:       checker.Fail,
				checker.ResourceSafety:  checker.Fail,
			}},
			{Lock: "rw-hash"},
		},
	}
}
