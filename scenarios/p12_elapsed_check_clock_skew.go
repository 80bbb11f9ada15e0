package scenarios

import (
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/resource"
	w "github.com/lockbench/lockbench/workloads"
)

func elapsedCheckClockSkew() Scenario {
	const strictly = "No lease survives a holder that works on past its end: strictly, two held the lock. "
	late := checker.Expectation{checker.StrictExclusion: checker.Fail}
	return Scenario{
		ID:     "P12",
		Name:   "elapsed-check-clock-skew",
		Title:  "a holder looks at a clock that was set back, and finds that its lease still runs",
		Source: "A 2.2",
		Why: "The guard compares the client's clock with the end of the lease before it writes. A's clock was set back after A had got the lock; by it the " +
			"lease had hardly begun when the server had ended it and B had worked. A overwrote what B wrote.",
		InProcess: "their clocks are the machine's",
		Script: w.Script{Cast: 2, Steps: []w.Step{
			w.Acquire("A"),
			w.Read("A"),
			w.ClientClockJumps("A", -3),
			w.LeaseEnds(),
			w.Acquire("B"),
			w.Read("B"),
			w.Write("B"),
			w.Write("A"),
			w.Release("B"),
			w.Release("A"),
		}},
		TTL: virtualTTL, RealTTL: waitedFor,
		Cases: []Case{
			{Lock: "setnx-px-lua", Guard: resource.Elapsed, Want: checker.Expectation{
				checker.StrictExclusion: checker.Fail,
				checker.ResourceSafety:  checker.Fail,
			}},
			{
				Lock: "fenced", Guard: resource.Fence, Want: late,
				Note: strictly + "The register knows no clock: it had seen B's token and refused A's write with the lower one.",
			},
			{
				Lock: "setnx-px-lua", Guard: resource.Epoch, Want: late,
				Note: strictly + "The register knows no clock: it had let B's section begin and refused A's write.",
			},
			{
				Lock: "setnx-px-lua", Guard: resource.CheckToken, Want: late,
				Note: strictly + "The lock's server was asked, and not A's clock. That is no guard against what happens after the answer, see check-then-write-race.",
			},
		},
	}
}
