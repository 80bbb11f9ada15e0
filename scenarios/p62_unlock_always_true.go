package scenarios

import (
	"github.com/lockbench/lockbench/checker"
	w "github.com/lockbench/lockbench/workloads"
)

func unlockAlwaysTrue() Scenario {
	return Scenario{
		ID:     "P62",
		Name:   "unlock-always-true",
		Title:  "a release says that it worked, whatever Redis says",
		Source: "D",
		Why: "Release answers true if the client remembers the lock, and only logs what Redis says to it. A's lease had ended and B held the " +
			"lock; A was told that it had released its own, and did not learn that it had worked without one.",
		Script: w.Script{Cast: 2, Steps: []w.Step{
			w.Acquire("A"),
			w.Read("A"),
			w.Write("A"),
			w.Pause("A"),
			w.LeaseEnds(),
			w.Acquire("B"),
			w.Read("B"),
			w.Resume("A"),
			w.Release("A"),
			w.Write("B"),
			w.Release("B"),
		}},
		TTL: virtualTTL, RealTTL: waitedFor,
		Cases: []Case{
			{Lock: "reentrant-local", Want: checker.Expectation{
				checker.StrictExclusion: checker.Fail,
				checker.TruthfulReplies: checker.Fail,
			}},
			{
				Lock: "reentrant-hash", Want: checker.Expectation{checker.StrictExclusion: checker.Fail},
				Note: "Every lease lets B in while A stands still and has not released, so strictly two held the lock. A's release was refused, " +
					"so that A knows of it and can look at what it has done.",
			},
			{Lock: "setnx-px-lua", Want: checker.Expectation{checker.StrictExclusion: checker.Fail}},
		},
	}
}
