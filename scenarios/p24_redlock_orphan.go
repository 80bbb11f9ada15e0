package scenarios

import (
	"github.com/lockbench/lockbench/checker"
	w "github.com/lockbench/lockbench/workloads"
)

func redlockOrphan() Scenario {
	return Scenario{
		ID:     "P24",
		Name:   "redlock-orphan",
		Title:  "three servers take A's key, and their answers get lost; A cleans up",
		Source: "A 2.5 step 5, D",
		Why: "A had two answers of five and gave up. It deleted its key only where it had been told OK, and called the lock taken; on three " +
			"servers its key stayed, with nobody to hold it, and kept everybody out until its TTL. A failed acquire must release on " +
			"every server, above all where it does not know.",
		Script: w.Script{Cast: 2, Steps: []w.Step{
			w.Acquire("B"),
			w.Read("B"),
			w.Write("B"),
			w.RepliesLost("A", 2, 3, 4),
			w.Release("B"),
			w.Acquire("A"),
			w.RepliesArrive("A"),
			w.LockServersAudited(),
			w.AcquireUntilFree("B"),
			w.Read("B"),
			w.Acquire("A"),
			w.Write("B"),
			w.Release("B"),
		}},
		TTL: virtualTTL, RealTTL: majorityWaitedFor,
		Cases: []Case{
			{
				Lock: "redlock-partial-cleanup", Want: checker.Expectation{checker.TruthfulReplies: checker.Fail},
				Note: "The TTL bounds the harm: later than that the lock could be had again, and so deadlock freedom held.",
			},
			{
				Lock: "redlock",
				Note: "A released on all five servers, also where it had no answer, and B had the lock at once.",
			},
		},
	}
}
