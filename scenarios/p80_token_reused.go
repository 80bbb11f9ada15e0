package scenarios

import (
	"time"

	"github.com/lockbench/lockbench/checker"
	w "github.com/lockbench/lockbench/workloads"
)

func tokenReused() Scenario {
	return Scenario{
		ID:     "P80",
		Name:   "token-reused",
		Title:  "a holder's late release meets the same token, once in many times",
		Source: "A 4.1 (random token)",
		Why: "A token is one of 32 numbers. A outlived its leases on many keys, and B had each after it. Most of A's late releases find another token and are refused; once in 32 times B " +
			"has drawn the same, and the release, which compares, deletes B's lock: C got in beside B.",
		Faultless: true,
		Keys:      400,
		Script: w.Script{Cast: 3, Steps: []w.Step{
			w.Acquire("A"),
			w.LeaseEnds(),
			w.Release("A"),
			w.OutliveAll("A", "B", "C"),
			w.Read("B"),
			w.Read("C"),
			w.Write("C"),
			w.Write("B"),
			w.Release("B"),
			w.Release("C"),
			w.AcquireEventually("A"),
			w.Read("A"),
			w.Write("A"),
			w.Release("A"),
		}},
		TTL: virtualTTL, RealTTL: 2 * time.Second,
		Cases: []Case{
			{Lock: "short-token", Want: checker.Expectation{
				checker.StrictExclusion: checker.Fail,
				checker.LeaseExclusion:  checker.Fail,
				checker.LeaseHonoured:   checker.Fail,
				checker.Ownership:       checker.Fail,
				checker.TruthfulReplies: checker.Fail,
				checker.ResourceSafety:  checker.Fail,
			}},
			{
				Lock: "setnx-px-lua", Want: checker.Expectation{checker.StrictExclusion: checker.Fail},
				Note: "B gets the lock when A's lease has ended, and A releases late: strictly, two held it, on every key. With tokens of 20 random bytes A was refused on all of them.",
			},
		},
	}
}
