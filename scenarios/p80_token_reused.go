package scenarios

import (
	"github.com/lockbench/lockbench/checker"
	w "github.com/lockbench/lockbench/workloads"
)

func tokenReused() Scenario {
	return Scenario{
		ID:     "P80",
		Name:   "token-reused",
		Title:  "a holder's late release meets the same token, once in many times",
		Source: "A 4.1 (random token)",
		Why: "A token is one of 32 numbers. Most of the time A's late release finds another one and is refused; once in 32 times B has drawn the same, and the release, which " +
			"compares, deletes B's lock: C got in beside B.",
		Faultless: true,
		Gaps: map[string]string{
			"process":  tooManyLeases,
			"docker":   tooManyLeases,
			"external": tooManyLeases,
		},
		Script: w.Script{Cast: 3, Steps: []w.Step{
			w.OutliveOften("A", "B", "C", 400),
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
		TTL: virtualTTL, RealTTL: waitedFor,
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
				Note: "B gets the lock when A's lease has ended, and A releases late: strictly, two held it, in every round. With tokens of 20 random bytes A was refused in all of them.",
			},
		},
	}
}

// tooManyLeases is the gap of real servers in scenarios that outlive hundreds of leases.
const tooManyLeases = "the script outlives hundreds of leases, which is nothing in virtual time and many minutes on real servers; use --backend embedded"
