package scenarios

import (
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/resource"
	w "github.com/lockbench/lockbench/workloads"
)

func failoverCheckThenWrite() Scenario {
	lost := checker.Expectation{
		checker.StrictExclusion: checker.Fail,
		checker.LeaseExclusion:  checker.Fail,
		checker.LeaseHonoured:   checker.Fail,
	}
	return Scenario{
		ID:     "P15",
		Name:   "failover-check-then-write",
		Title:  "the master that answered the check dies before the write arrives",
		Source: "A 2.4",
		Why: "A asked the old master whether the lock was still its own, and the old master said yes. It died, the replica had never heard of A, and B got " +
			"the lock and worked. A's write, allowed by a server that is no more, overwrote B's.",
		Replicas: 1,
		Script: w.Script{Cast: 2, Steps: []w.Step{
			w.ReplicaInSync(),
			w.CutReplication(),
			w.Acquire("A"),
			w.Read("A"),
			w.WriteUntilHeld("A"),
			w.KillMaster(),
			w.PromoteReplica(),
			w.Acquire("B"),
			w.Read("B"),
			w.Write("B"),
			w.LetGo("A"),
			w.Release("A"),
			w.Release("B"),
		}},
		TTL: virtualTTL, RealTTL: unhurriedly,
		Cases: []Case{
			{Lock: "setnx-px-lua", Guard: resource.CheckToken, Want: checker.Expectation{
				checker.StrictExclusion: checker.Fail,
				checker.LeaseExclusion:  checker.Fail,
				checker.LeaseHonoured:   checker.Fail,
				checker.ResourceSafety:  checker.Fail,
			}},
			{
				Lock: "setnx-px-lua", Guard: resource.Epoch, Want: lost,
				Note: "The lock was lost with its master. What the epoch saves is the resource: the register had let B's section begin and refused A's write.",
			},
			{
				Lock: "redlock", Guard: resource.CheckToken,
				Note: "A asked five masters, and four of them live on: B did not get a majority.",
			},
		},
	}
}
