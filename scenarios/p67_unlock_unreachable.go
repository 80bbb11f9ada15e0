package scenarios

import (
	"github.com/lockbench/lockbench/checker"
	w "github.com/lockbench/lockbench/workloads"
)

func unlockUnreachable() Scenario {
	outlived := checker.Expectation{checker.StrictExclusion: checker.Fail}
	return Scenario{
		ID:     "P67",
		Name:   "unlock-unreachable",
		Title:  "a release says that it worked, and reached no server",
		Source: "D (with P62)",
		Why: "Release answers true if the client remembers the lock, and only logs an error. A was cut off from Redis, so that nothing of its release " +
			"arrived; by then its lease had ended and B held the lock. A was told that it had given back what was its own.",
		Script: w.Script{Cast: 2, Steps: []w.Step{
			w.Acquire("A"),
			w.Read("A"),
			w.Write("A"),
			w.Acquire("B"),
			w.CutOffFrom("A"),
			w.LeaseEnds(),
			w.Acquire("B"),
			w.Read("B"),
			w.Release("A"),
			w.Write("B"),
			w.Reconnect("A"),
			w.Release("B"),
		}},
		TTL: virtualTTL, RealTTL: waitedFor,
		Cases: []Case{
			{Lock: "reentrant-local", Want: checker.Expectation{
				checker.StrictExclusion: checker.Fail,
				checker.TruthfulReplies: checker.Fail,
			}},
			{
				Lock: "reentrant-hash", Want: outlived,
				Note: "A could not give the lock back before its lease ended: strictly, two held it. Its release was an error that leaves the outcome open, so " +
					"that A knows that it does not know.",
			},
			{Lock: "setnx-px-lua", Want: outlived},
		},
	}
}
