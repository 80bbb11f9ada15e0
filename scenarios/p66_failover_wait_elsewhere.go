package scenarios

import (
	"github.com/lockbench/lockbench/checker"
	w "github.com/lockbench/lockbench/workloads"
)

func failoverWaitElsewhere() Scenario {
	lost := checker.Expectation{
		checker.StrictExclusion: checker.Fail,
		checker.LeaseExclusion:  checker.Fail,
		checker.LeaseHonoured:   checker.Fail,
		checker.ResourceSafety:  checker.Fail,
	}
	return Scenario{
		ID:     "P66",
		Name:   "failover-wait-elsewhere",
		Title:  "WAIT confirms what another connection wrote, and no replica has the lock",
		Source: "R, go-redis#1989 (with P17)",
		Why: "WAIT counts the replicas that have what its own connection wrote. The pool gave it another one than SET had, which had written nothing that " +
			"they lacked, so that it said yes at once. Both replicas were behind and had never heard of A's lock when one of them was promoted.",
		Replicas: 2,
		Script: w.Script{Cast: 2, Steps: []w.Step{
			// A section in calm opens the connections of A's pool: in Redis 7.0 any command, also the
			// HELLO of a new connection, counts for a write, and WAIT on that one would be right.
			w.Acquire("A"),
			w.Acquire("B"),
			w.Read("A"),
			w.Write("A"),
			w.Release("A"),
			w.ReplicaInSync(),
			w.ReplicasLag(0.5),
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
			{Lock: "setnx-px-wait-elsewhere", Want: lost},
			{
				Lock: "setnx-px-wait",
				Note: "It sent WAIT on the connection of its SET. No replica had the key in time: A gave the lock back and did not work, and B got it from the " +
					"new master. Where one replica is in time and the other is promoted it breaks, too: see failover-wait.",
			},
			{Lock: "redlock"},
			{Lock: "setnx-px-lua", Want: lost},
		},
	}
}
