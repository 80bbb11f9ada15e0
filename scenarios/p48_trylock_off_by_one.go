package scenarios

import (
	"github.com/lockbench/lockbench/checker"
	w "github.com/lockbench/lockbench/workloads"
)

func trylockOffByOne() Scenario {
	return Scenario{
		ID:     "P48",
		Name:   "trylock-off-by-one",
		Title:  "the last try is counted and not made",
		Source: "B",
		Why: "The loop raises its counter, and gives up if that has reached the maximum, before it tries: with a maximum of one it never tries. " +
			"The answer is that the lock is taken, and Redis was not even asked.",
		Faultless: true,
		Script: w.Script{Cast: 2, Steps: []w.Step{
			w.Acquire("A"),
			w.Read("A"),
			w.Write("A"),
			w.Acquire("B"),
			w.Release("A"),
			w.Acquire("B"),
			w.Read("B"),
			w.Write("B"),
			w.Release("B"),
		}},
		TTL: virtualTTL, RealTTL: waitedFor,
		Cases: []Case{
			{Lock: "lua-uuid-as-printed", Want: checker.Expectation{
				checker.Availability:    checker.Fail,
				checker.DeadlockFreedom: checker.Fail,
				checker.TruthfulReplies: checker.Fail,
				// Nobody ever held the lock, so nothing can be said of holding it.
				checker.StrictExclusion: checker.Unknown,
				checker.LeaseExclusion:  checker.Unknown,
				checker.LeaseHonoured:   checker.Unknown,
				checker.Ownership:       checker.Unknown,
			}},
			{Lock: "lua-uuid"},
			{Lock: "setnx-px-lua"},
		},
	}
}
