package scenarios

import (
	"github.com/lockbench/lockbench/checker"
	w "github.com/lockbench/lockbench/workloads"
)

func extendForeignKey() Scenario {
	outlived := checker.Expectation{checker.StrictExclusion: checker.Fail}
	return Scenario{
		ID:     "P69",
		Name:   "extend-foreign-key",
		Title:  "a client that outlived its lease extends while the next one holds the lock",
		Source: "D (with P07)",
		Why: "Extend is a bare PEXPIRE: it gives a new end to whatever is under the key, whoever put it there. A came back after its lease had ended and asked for " +
			"a quarter of a TTL. It was told that it has the lock, and B, which has it, was left with that quarter: C got in beside B.",
		Script: w.Script{Cast: 3, Extends: true, Steps: []w.Step{
			w.Acquire("A"),
			w.LeaseEnds(),
			w.Acquire("B"),
			w.Read("B"),
			w.Extend("A", 0.25),
			w.Work("B", 0.5),
			w.Acquire("C"),
			w.Read("C"),
			w.Write("C"),
			w.Write("B"),
			w.Release("B"),
			w.Release("C"),
			w.Release("A"),
		}},
		Faultless: true,
		TTL:       virtualTTL, RealTTL: majorityWaitedFor,
		Cases: []Case{
			{Lock: "extend-unchecked", Want: checker.Expectation{
				checker.StrictExclusion: checker.Fail,
				checker.LeaseExclusion:  checker.Fail,
				checker.LeaseHonoured:   checker.Fail,
				checker.Ownership:       checker.Fail,
				checker.TruthfulReplies: checker.Fail,
				checker.ResourceSafety:  checker.Fail,
			}},
			{
				Lock: "setnx-px-lua", Want: outlived,
				Note: "B got the lock when A's lease had ended, and A had not released: strictly, two held it. Extend compares the token first: A was refused, and B's key " +
					"kept its end.",
			},
			{Lock: "setnx-px-watch", Want: outlived},
			{Lock: "bsm-redislock", Want: outlived},
			{Lock: "rw-hash", Want: outlived},
			{Lock: "redlock", Want: outlived},
		},
	}
}
