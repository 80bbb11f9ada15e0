package scenarios

import (
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/resource"
	w "github.com/lockbench/lockbench/workloads"
)

func redlockGCPause() Scenario {
	const strictly = "No lease survives a holder that stands still: strictly, two held the lock. "
	paused := checker.Expectation{checker.StrictExclusion: checker.Fail}
	return Scenario{
		ID:     "P22",
		Name:   "redlock-gc-pause",
		Title:  "a holder of a majority stands still past its validity and then writes",
		Source: "K",
		Why: "A had all five servers and stood still (garbage collection, a swapped-out page, a paused VM) until its lease had ended on each. " +
			"B worked under the lock; then A went on and overwrote what B wrote. More servers do not help against a holder that stops.",
		Script: w.Script{Cast: 2, Steps: []w.Step{
			w.Acquire("A"),
			w.Read("A"),
			w.Pause("A"),
			w.WriteLate("A"),
			w.LeaseEnds(),
			w.Acquire("B"),
			w.Read("B"),
			w.Write("B"),
			w.Resume("A"),
			w.Release("B"),
			w.Release("A"),
		}},
		TTL: virtualTTL, RealTTL: majorityWaitedFor,
		Cases: []Case{
			{Lock: "redlock", Want: checker.Expectation{
				checker.StrictExclusion: checker.Fail,
				checker.ResourceSafety:  checker.Fail,
			}},
			{
				Lock: "redlock", Guard: resource.Epoch, Want: paused,
				Note: strictly + "What the epoch saves is the resource: it had let B's section begin and refused A's write.",
			},
			{
				Lock: "redlock", Guard: resource.Elapsed, Want: paused,
				Note: strictly + "The look at the clock before the write saved the resource, because A stood still before it and not after it.",
			},
		},
	}
}
