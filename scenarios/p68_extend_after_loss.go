package scenarios

import (
	"github.com/lockbench/lockbench/checker"
	w "github.com/lockbench/lockbench/workloads"
)

func extendAfterLoss() Scenario {
	outlived := checker.Expectation{checker.StrictExclusion: checker.Fail}
	return Scenario{
		ID:     "P68",
		Name:   "extend-after-loss",
		Title:  "a holder extends a lease that another has had meanwhile",
		Source: "redsync, redis-py",
		Why: "Where extend finds no key it sets one. A's lease had ended, and B had had the lock, written and given it back: extend brought A's lease " +
			"back and said that all was well. A wrote what it had worked out from what it had read before B.",
		Script: w.Script{Cast: 2, Extends: true, Steps: []w.Step{
			w.Acquire("A"),
			w.Read("A"),
			w.Acquire("B"),
			w.LeaseEnds(),
			w.Acquire("B"),
			w.Read("B"),
			w.Write("B"),
			w.Release("B"),
			w.Extend("A", 1),
			w.Write("A"),
			w.Release("A"),
			w.AcquireEventually("B"),
			w.Read("B"),
			w.Write("B"),
			w.Release("B"),
		}},
		Faultless: true,
		TTL:       virtualTTL, RealTTL: majorityWaitedFor,
		Cases: []Case{
			{Lock: "redsync-setnx-on-extend", Want: checker.Expectation{
				checker.StrictExclusion: checker.Fail,
				checker.TruthfulReplies: checker.Fail,
				checker.ResourceSafety:  checker.Fail,
			}},
			{
				Lock: "redsync-context-timeout", Want: outlived,
				Note: "B got the lock when A's lease had ended, and A had not released: strictly, two held it. A's extend was refused, as there was no key of A's, and A " +
					"did not write.",
			},
			{Lock: "setnx-px-lua", Want: outlived},
			{Lock: "extend-adds", Want: outlived},
			{Lock: "bsm-redislock", Want: outlived},
			{Lock: "reentrant-hash-keep", Want: outlived},
			{Lock: "rw-hash", Want: outlived},
			{Lock: "redlock", Want: outlived},
		},
	}
}
