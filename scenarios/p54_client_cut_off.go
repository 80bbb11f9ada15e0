package scenarios

import (
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/resource"
	w "github.com/lockbench/lockbench/workloads"
)

func clientCutOff() Scenario {
	const strictly = "A did not give the lock back before its lease ended, as it could not: strictly, two held it. "
	outlived := checker.Expectation{checker.StrictExclusion: checker.Fail}
	return Scenario{
		ID:     "P54",
		Name:   "client-cut-off",
		Title:  "the holder is cut off from Redis, but not from the resource",
		Source: "D, redisson#3636",
		Why: "A could not reach Redis any more, neither to extend its lease nor to hear that it had ended. B was granted the lock; A, which " +
			"still reached the resource, went on with its work. A holder must stop by its own clock before its lease can end.",
		Script: w.Script{Cast: 2, Steps: []w.Step{
			w.Acquire("A"),
			w.Read("A"),
			w.Acquire("B"),
			w.CutOffFrom("A"),
			w.LeaseEnds(),
			w.Acquire("B"),
			w.Read("B"),
			w.Write("B"),
			w.Write("A"),
			w.Reconnect("A"),
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
				Lock: "setnx-px-lua", Guard: resource.Elapsed, Want: outlived,
				Note: strictly + "A looked at its own clock before the write, saw that its lease had ended, and stopped.",
			},
			{
				Lock: "setnx-px-lua", Guard: resource.CheckToken, Want: outlived,
				Note: strictly + "A could not ask Redis whether the lock was still its own, and so did not write.",
			},
			{
				Lock: "fenced", Guard: resource.Fence, Want: outlived,
				Note: strictly + "What the fence saves is the resource: it had seen B's token and refused A's write with the lower one.",
			},
		},
	}
}
