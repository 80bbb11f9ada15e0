package scenarios

import (
	"github.com/lockbench/lockbench/checker"
	w "github.com/lockbench/lockbench/workloads"
)

func extendResent() Scenario {
	return Scenario{
		ID:     "P73",
		Name:   "extend-resent",
		Title:  "the reply to an extend gets lost, and the command is sent again",
		Source: "redis-py (with P33)",
		Why: "An extend that adds to what is left adds once more if it is sent once more, and the server cannot tell the two apart. A asked for one lease more and the key " +
			"got two, which nobody was told. A walked away, and everybody waits for what nobody has asked for.",
		Script: w.Script{Cast: 2, Extends: true, Steps: []w.Step{
			w.Acquire("A"),
			w.Read("A"),
			w.ExtendResent("A", 1),
			w.Acquire("B"),
			w.Write("A"),
			w.WalkAway("A"),
			w.AcquireWithinTTLs("B", 3.5),
			w.Read("B"),
			w.Write("B"),
			w.Release("B"),
		}},
		TTL: virtualTTL, RealTTL: waitedFor,
		Cases: []Case{
			{Lock: "extend-adds", Want: checker.Expectation{
				checker.DeadlockFreedom: checker.Fail,
				checker.Availability:    checker.Fail,
			}, Note: "The TTL bounds it: the key ends, one lease later than the last that A had asked for."},
			{Lock: "setnx-px-lua", Note: "Extend says when the lease is to end and not by how much more: sent twice, it ends a moment later."},
			{Lock: "extend-adds-once", Note: "The client adds, and the script sets the sum: sent twice, it sets it twice."},
			{Lock: "bsm-redislock"},
			{Lock: "reentrant-hash"},
			{Lock: "rw-hash"},
		},
	}
}
