package scenarios

import (
	"github.com/lockbench/lockbench/checker"
	w "github.com/lockbench/lockbench/workloads"
)

func tokenPrefix() Scenario {
	return Scenario{
		ID:     "P55",
		Name:   "token-prefix",
		Title:  "worker-1 asks for the lock that worker-12 holds",
		Source: "seen against bsm/redislock v0.9.4",
		Why: "The library's script compares as many bytes of the key's value as the new token has. A uses the token worker-12 and B the token " +
			"worker-1, so that B's acquire took A's key for its own and overwrote it. No fault was needed.",
		Faultless: true,
		Script: w.Script{Cast: 2, Steps: []w.Step{
			w.Acquire("A"),
			w.Read("A"),
			w.Acquire("B"),
			w.Read("B"),
			w.Write("B"),
			w.Write("A"),
			w.Release("A"),
			w.Release("B"),
		}},
		TTL: virtualTTL, RealTTL: unhurriedly,
		Cases: []Case{
			{Lock: "bsm-redislock-custom-token", Want: checker.Expectation{
				checker.StrictExclusion: checker.Fail,
				checker.LeaseExclusion:  checker.Fail,
				checker.LeaseHonoured:   checker.Fail,
				checker.ResourceSafety:  checker.Fail,
			}},
			{Lock: "bsm-redislock", Note: "Random tokens are all of one length, so that none is the beginning of another."},
			{Lock: "setnx-px-lua"},
		},
	}
}
