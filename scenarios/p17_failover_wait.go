package scenarios

import (
	"github.com/lockbench/lockbench/checker"
	w "github.com/lockbench/lockbench/workloads"
)

func failoverWait() Scenario {
	lost := checker.Expectation{
		checker.StrictExclusion: checker.Fail,
		checker.LeaseExclusion:  checker.Fail,
		checker.LeaseHonoured:   checker.Fail,
		checker.ResourceSafety:  checker.Fail,
	}
	return Scenario{
		ID:     "P17",
		Name:   "failover-wait",
		Title:  "one replica has confirmed the lock, and the other one is promoted",
		Source: "R, redisson#5256",
		Why: "WAIT counts the replicas that have the key, and does not decide which of them takes over. Replica 1 had confirmed A's lock; replica 2, which had " +
			"never heard of it, was promoted. Waiting for more replicas makes this rarer, and the lock less available.",
		Replicas: 2,
		Script: w.Script{Cast: 2, Steps: []w.Step{
			w.ReplicaInSync(),
			w.CutReplicationTo(2),
			w.Acquire("A"),
			w.Read("A"),
			w.MasterDiesForReplica(2),
			w.Acquire("B"),
			w.Read("B"),
			w.Write("A"),
			w.Write("B"),
			w.Release("A"),
			w.Release("B"),
		}},
		TTL: virtualTTL, RealTTL: unhurriedly,
		Cases: []Case{
			{Lock: "setnx-px-wait", Want: lost},
			{Lock: "redlock"},
			{Lock: "setnx-px-lua", Want: lost},
		},
	}
}
