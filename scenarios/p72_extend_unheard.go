package scenarios

import (
	"github.com/lockbench/lockbench/checker"
	w "github.com/lockbench/lockbench/workloads"
)

func extendUnheard() Scenario {
	return Scenario{
		ID:     "P72",
		Name:   "extend-unheard",
		Title:  "an extend says that it worked, and reached no server",
		Source: "D (with P67)",
		Why: "Extend fails only if the server refuses, and takes an error of the network for a matter of the next time. A's extend was lost, so that A's key ended when it " +
			"had been going to; A was told that it has the lock for a TTL more, and wrote over B.",
		Script: w.Script{Cast: 2, Extends: true, Steps: []w.Step{
			w.Acquire("A"),
			w.Read("A"),
			w.Acquire("B"),
			w.Work("A", 0.5),
			w.CutOffFrom("A"),
			w.Extend("A", 1),
			w.Reconnect("A"),
			w.LeaseEnds(),
			w.Acquire("B"),
			w.Read("B"),
			w.Write("A"),
			w.Write("B"),
			w.Release("A"),
			w.Release("B"),
		}},
		TTL: virtualTTL, RealTTL: majorityWaitedFor,
		Cases: []Case{
			{Lock: "extend-unheard", Want: checker.Expectation{
				checker.StrictExclusion: checker.Fail,
				checker.LeaseExclusion:  checker.Fail,
				checker.LeaseHonoured:   checker.Fail,
				checker.ResourceSafety:  checker.Fail,
			}},
			{Lock: "setnx-px-lua", Note: "The error says that nobody knows. A took the lock for lost, and did not write."},
			{Lock: "extend-adds"},
			{Lock: "bsm-redislock"},
			{Lock: "rw-hash"},
			{Lock: "redlock"},
		},
	}
}
