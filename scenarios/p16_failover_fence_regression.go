package scenarios

import (
	"maps"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/resource"
	w "github.com/lockbench/lockbench/workloads"
)

func failoverFenceRegression() Scenario {
	lost := checker.Expectation{
		checker.StrictExclusion: checker.Fail,
		checker.LeaseExclusion:  checker.Fail,
		checker.LeaseHonoured:   checker.Fail,
	}
	twice := maps.Clone(lost) // the lock issues the same token twice
	twice[checker.Fencing] = checker.Fail
	overwritten := maps.Clone(twice)
	overwritten[checker.ResourceSafety] = checker.Fail
	return Scenario{
		ID:     "P16",
		Name:   "failover-fence-regression",
		Title:  "the counter of fencing tokens is lost with the master",
		Source: "redisson#4684",
		Why: "The counter lives beside the lock and is replicated as late. The replica that took over had neither A's lock nor A's token, and gave B the same " +
			"one: the register cannot tell who came later.",
		Replicas: 1,
		Script: w.Script{Cast: 2, Steps: []w.Step{
			w.Acquire("B"),
			w.Read("B"),
			w.Write("B"),
			w.Release("B"),
			w.ReplicaInSync(),
			w.CutReplication(),
			w.Acquire("A"),
			w.Read("A"),
			w.KillMaster(),
			w.PromoteReplica(),
			w.Acquire("B"),
			w.Read("B"),
			w.Write("B"),
			w.Write("A"),
			w.Release("A"),
			w.Release("B"),
		}},
		TTL: virtualTTL, RealTTL: unhurriedly,
		Cases: []Case{
			{Lock: "fenced", Guard: resource.Fence, Want: overwritten},
			{
				Lock: "fenced", Guard: resource.Epoch, Want: twice,
				Note: "The lock was lost with its master, and its tokens are of no use. What the epoch saves is the resource: the register counts by itself, " +
					"and refused A's write.",
			},
			{
				Lock: "setnx-px-lua", Guard: resource.Epoch, Want: lost,
				Note: "The lock was lost with its master. The epoch saved the resource, and needs no token of the lock.",
			},
			{Lock: "redlock"},
		},
	}
}
