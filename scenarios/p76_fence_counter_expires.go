package scenarios

import (
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/resource"
	w "github.com/lockbench/lockbench/workloads"
)

func fenceCounterExpires() Scenario {
	return Scenario{
		ID:     "P76",
		Name:   "fence-counter-expires",
		Title:  "the counter of fencing tokens has a TTL",
		Source: "mutant (K 2016)",
		Why: "The counter was given the TTL of the lease, so that no key stays behind. With A's lease the counter ended, and B, the next to count, got 1 as A had: the register " +
			"cannot tell which of them is late, and took A's write.",
		Faultless: true,
		Script: w.Script{Cast: 2, Steps: []w.Step{
			w.Acquire("A"),
			w.Read("A"),
			w.Acquire("B"),
			w.LeaseEnds(),
			w.Acquire("B"),
			w.Read("B"),
			w.Write("B"),
			w.Write("A"),
			w.Release("A"),
			w.Release("B"),
		}},
		TTL: virtualTTL, RealTTL: majorityWaitedFor,
		Cases: []Case{
			{Lock: "fenced-expires", Guard: resource.Fence, Want: checker.Expectation{
				checker.StrictExclusion: checker.Fail,
				checker.Fencing:         checker.Fail,
				checker.ResourceSafety:  checker.Fail,
			}},
			{
				Lock: "fenced", Guard: resource.Fence, Want: checker.Expectation{checker.StrictExclusion: checker.Fail},
				Note: "The counter has no TTL: B got a higher token than A, and the register, which had seen it, refused A's write.",
			},
		},
	}
}
