package scenarios

import (
	"maps"

	"github.com/lockbench/lockbench/checker"
	w "github.com/lockbench/lockbench/workloads"
)

func failoverAsyncRepl() Scenario {
	lost := checker.Expectation{
		checker.StrictExclusion: checker.Fail,
		checker.LeaseExclusion:  checker.Fail,
		checker.LeaseHonoured:   checker.Fail,
		checker.ResourceSafety:  checker.Fail,
	}
	forgetful := maps.Clone(lost) // the counter of tokens is lost with the lock
	forgetful[checker.Fencing] = checker.Fail
	return Scenario{
		ID:     "P14",
		Name:   "failover-async-repl",
		Title:  "the master dies before its replica has heard of the lock",
		Source: "A 2.4, D",
		Why: "Redis replicates asynchronously. A's SET was acknowledged before any replica had it, so the promoted replica had never " +
			"heard of A.",
		Replicas: 1,
		Script: w.Script{Cast: 2, Steps: []w.Step{
			w.ReplicaInSync(),
			w.CutReplication(),
			w.Acquire("A"),
			w.Read("A"),
			w.KillMaster(),
			w.PromoteReplica(),
			w.Acquire("B"),
			w.Read("B"),
			w.Write("A"),
			w.Write("B"),
			w.Release("A"),
			w.Release("B"),
		}},
		TTL: virtualTTL, RealTTL: unhurriedly,
		Cases: []Case{
			{Lock: "setnx-px-lua", Want: lost},
			{Lock: "redlock"},
			{Lock: "setnx-expire", Want: lost},
			{Lock: "setnx-px-del", Want: lost},
			{Lock: "setnx-px-get-del", Want: lost},
			{Lock: "fenced", Want: forgetful},
		},
	}
}
