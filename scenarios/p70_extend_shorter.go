package scenarios

import (
	"github.com/lockbench/lockbench/checker"
	w "github.com/lockbench/lockbench/workloads"
)

func extendShorter() Scenario {
	return Scenario{
		ID:     "P70",
		Name:   "extend-shorter",
		Title:  "a holder extends its lease by less than is left of it",
		Source: "C (with P32)",
		Why: "To Redis an expiry is an expiry: PEXPIRE by a quarter of the TTL made A's key end after that quarter, long before it would have. The lock takes an extend " +
			"for something that makes a lease longer, and left A its old deadline: B got in while A was told that it has the lock.",
		Script: w.Script{Cast: 2, Extends: true, Steps: []w.Step{
			w.Acquire("A"),
			w.Read("A"),
			w.Acquire("B"),
			w.Extend("A", 0.25),
			w.Write("A"),
			w.Work("A", 0.5),
			w.StopAtDeadline("A"),
			w.Acquire("B"),
			w.Read("B"),
			w.Write("A"),
			w.Write("B"),
			w.Release("A"),
			w.Release("B"),
		}},
		Faultless: true,
		TTL:       virtualTTL, RealTTL: majorityWaitedFor,
		Cases: []Case{
			{Lock: "extend-later", Want: checker.Expectation{
				checker.StrictExclusion: checker.Fail,
				checker.LeaseExclusion:  checker.Fail,
				checker.ResourceSafety:  checker.Fail,
				// Not so lease honoured: the server kept the lease that A had asked for last.
			}},
			{
				Lock: "setnx-px-lua",
				Note: "A's deadline moved to where its key's end had moved. A looked at its clock, and stopped before B came.",
			},
			{Lock: "bsm-redislock"},
			{Lock: "redsync-context-timeout"},
			{Lock: "redlock"},
			{Lock: "rw-hash"},
			{Lock: "extend-adds", Note: "An extend adds to what is left, and shortens nothing: B was refused."},
			{Lock: "reentrant-hash-keep", Note: "An extend shortens nothing here: B was refused."},
		},
	}
}
