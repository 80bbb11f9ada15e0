package scenarios

import (
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/resource"
	w "github.com/lockbench/lockbench/workloads"
)

func checkThenWriteRace() Scenario {
	const strictly = "No lease survives a write that takes longer: strictly, two held the lock. "
	delayed := checker.Expectation{checker.StrictExclusion: checker.Fail}
	overwritten := checker.Expectation{
		checker.StrictExclusion: checker.Fail,
		checker.ResourceSafety:  checker.Fail,
	}
	return Scenario{
		ID:     "P13",
		Name:   "check-then-write-race",
		Title:  "the lease ends after the check and before the write arrives",
		Source: "A 2.4, K",
		Why: "Before it wrote, A asked the lock's server whether the lock was still its own, and was told yes. The write was held up on the network; " +
			"meanwhile the lease ended and B worked. No check before a write says what holds when the write arrives.",
		Script: w.Script{Cast: 2, Steps: []w.Step{
			w.Acquire("A"),
			w.Read("A"),
			w.WriteUntilHeld("A"),
			w.LeaseEnds(),
			w.Acquire("B"),
			w.Read("B"),
			w.Write("B"),
			w.LetGo("A"),
			w.Release("B"),
			w.Release("A"),
		}},
		TTL: virtualTTL, RealTTL: waitedFor,
		Cases: []Case{
			{Lock: "setnx-px-lua", Guard: resource.CheckToken, Want: overwritten},
			{
				Lock: "fenced", Guard: resource.Fence, Want: delayed,
				Note: strictly + "The register itself looks when the write arrives: it had seen B's token and refused A's lower one.",
			},
			{
				Lock: "setnx-px-lua", Guard: resource.Epoch, Want: delayed,
				Note: strictly + "The register itself looks when the write arrives: it had let B's section begin and refused A's write.",
			},
			{Lock: "setnx-px-lua", Guard: resource.Elapsed, Want: overwritten},
		},
	}
}
