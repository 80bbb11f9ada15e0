package scenarios

import (
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/resource"
	w "github.com/lockbench/lockbench/workloads"
)

func gcPauseLeaseExpiry() Scenario {
	const strictly = "No lease survives a holder that stands still: strictly, two held the lock. "
	paused := checker.Expectation{checker.StrictExclusion: checker.Fail}
	return Scenario{
		ID:     "P11",
		Name:   "gc-pause-lease-expiry",
		Title:  "the holder stands still past its lease and then writes",
		Source: "A 2.2, K",
		Why: "A stood still (garbage collection, a swapped-out page, a paused VM) and did not notice that its lease had ended. B worked under " +
			"the lock; then A went on where it had stopped and overwrote what B wrote.",
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
		TTL: virtualTTL, RealTTL: waitedFor,
		Cases: []Case{
			{Lock: "setnx-px-lua", Want: checker.Expectation{
				checker.StrictExclusion: checker.Fail,
				checker.ResourceSafety:  checker.Fail,
			}},
			{
				Lock: "fenced", Guard: resource.Fence, Want: paused,
				Note: strictly + "What the fence saves is the resource: it had seen B's token and refused A's write with the lower one.",
			},
			{
				Lock: "setnx-px-lua", Guard: resource.Epoch, Want: paused,
				Note: strictly + "What the epoch saves is the resource: the register had let B's section begin and refused A's write.",
			},
			{
				Lock: "setnx-px-lua", Guard: resource.Elapsed, Want: paused,
				Note: strictly + "The look at the clock before the write saved the resource, because A stood still before it and not after it.",
			},
			{
				Lock: "setnx-px-lua", Guard: resource.CheckToken, Want: paused,
				Note: strictly + "The check before the write saved the resource, because A stood still before it and not after it.",
			},
		},
	}
}
