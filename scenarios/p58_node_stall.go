package scenarios

import (
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/resource"
	w "github.com/lockbench/lockbench/workloads"
)

func nodeStall() Scenario {
	const strictly = "A did not give the lock back while the server stood still: strictly, two held it. "
	outlived := checker.Expectation{checker.StrictExclusion: checker.Fail}
	return Scenario{
		ID:     "P58",
		Name:   "node-stall",
		Title:  "the server stands still for longer than the lease, and then goes on",
		Source: "R",
		Why: "While the server stood still (a snapshot, a slow disk, a stopped VM) the lease ran on: Redis counts wall-clock time. When it " +
			"went on, the first thing that it did was to grant B's request, which had waited. A had asked nobody and went on with its work.",
		Gaps: notOwnServers("stops a server"),
		Script: w.Script{Cast: 2, Steps: []w.Step{
			w.Acquire("A"),
			w.Read("A"),
			w.Acquire("B"),
			w.ServerStalls(0),
			w.LeaseRunsOut(),
			w.AcquireUnanswered("B"),
			w.ServerGoesOn(0),
			w.Finish("B"),
			w.Read("B"),
			w.Write("B"),
			w.Write("A"),
			w.Release("A"),
			w.Release("B"),
		}},
		TTL: virtualTTL, RealTTL: waitedFor,
		Cases: []Case{
			{Lock: "setnx-px-lua", Want: checker.Expectation{
				checker.StrictExclusion: checker.Fail,
				checker.ResourceSafety:  checker.Fail,
			}},
			{
				Lock: "setnx-px-lua", Guard: resource.Elapsed, Want: outlived,
				Note: strictly + "A looked at its own clock before the write, saw that its lease had ended, and stopped.",
			},
			{
				Lock: "fenced", Guard: resource.Fence, Want: outlived,
				Note: strictly + "What the fence saves is the resource: it had seen B's token and refused A's write with the lower one.",
			},
		},
	}
}
