package scenarios

import (
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/resource"
	w "github.com/lockbench/lockbench/workloads"
)

func fencePerClient() Scenario {
	return Scenario{
		ID:     "P77",
		Name:   "fence-per-client",
		Title:  "each client counts its own fencing tokens",
		Source: "mutant (K 2016)",
		Why: "Each client has a counter of its own. A had the lock twice, and its second lease had token 2; B came after it, for the first time, with token 1. The register " +
			"took A, whose lease was over, for the later one: it refused B and let A write.",
		Faultless: true,
		Script: w.Script{Cast: 2, Steps: []w.Step{
			w.Acquire("A"),
			w.Read("A"),
			w.Write("A"),
			w.Acquire("B"),
			w.Release("A"),
			w.Acquire("A"),
			w.Read("A"),
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
			{Lock: "fenced-per-client", Guard: resource.Fence, Want: checker.Expectation{
				checker.StrictExclusion: checker.Fail,
				checker.Fencing:         checker.Fail,
			}},
			{
				Lock: "fenced", Guard: resource.Fence, Want: checker.Expectation{checker.StrictExclusion: checker.Fail},
				Note: "One counter for all: B's token was higher than A's, B was let in and A's late write was refused.",
			},
		},
	}
}
