package scenarios

import (
	"github.com/lockbench/lockbench/checker"
	w "github.com/lockbench/lockbench/workloads"
)

func releaseTwice() Scenario {
	return Scenario{
		ID:     "P81",
		Name:   "release-twice",
		Title:  "a thread releases twice, and the next one of its process holds the lock",
		Source: "D, redisson#3636",
		Why: "The token is the name of the process. A released where it was done and once more where it cleaned up; in between B, a thread of the same process, had acquired " +
			"the lock. The key had the right token, so that A's second release deleted B's lock, and C got in.",
		Threads:   2,
		Faultless: true,
		Script: w.Script{Cast: 3, ReleasesTwice: true, Steps: []w.Step{
			w.Acquire("A"),
			w.Read("A"),
			w.Write("A"),
			w.Acquire("B"),
			w.Release("A"),
			w.Acquire("B"),
			w.Read("B"),
			w.ReleaseAgain("A"),
			w.Acquire("C"),
			w.Read("C"),
			w.Write("C"),
			w.Write("B"),
			w.Release("B"),
			w.Release("C"),
		}},
		TTL: virtualTTL, RealTTL: unhurriedly,
		Cases: []Case{
			{Lock: "client-token", Want: checker.Expectation{
				checker.StrictExclusion: checker.Fail,
				checker.LeaseExclusion:  checker.Fail,
				checker.LeaseHonoured:   checker.Fail,
				checker.Ownership:       checker.Fail,
				checker.TruthfulReplies: checker.Fail,
				checker.ResourceSafety:  checker.Fail,
			}},
			{Lock: "setnx-px-lua", Note: "Each attempt has a token of its own: the second release found another's, and was refused."},
			{Lock: "setnx-px-watch"},
			{Lock: "bsm-redislock"},
			{Lock: "redlock"},
		},
	}
}
