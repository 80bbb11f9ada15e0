package scenarios

import (
	"github.com/lockbench/lockbench/checker"
	w "github.com/lockbench/lockbench/workloads"
)

func reentrantLocalAfterExpiry() Scenario {
	return Scenario{
		ID:     "P30",
		Name:   "reentrant-local-after-expiry",
		Title:  "the client counts re-entries, and does not notice that the lease has ended",
		Source: "D",
		Why: "Who holds the lock already is counted in the client's memory, and Redis is not asked. A's lease had ended and B held the " +
			"lock; A's memory said that A held it, and so the re-entry succeeded.",
		Script: w.Script{Cast: 2, Reenters: true, Steps: []w.Step{
			w.AcquireReentrant("A"),
			w.Reenter("A"),
			w.AskCount("A"),
			w.Release("A"),
			w.Pause("A"),
			w.LeaseEnds(),
			w.AcquireReentrant("B"),
			w.Read("B"),
			w.Resume("A"),
			w.ReenterOrStop("A"),
			w.Read("A"),
			w.Write("A"),
			w.Write("B"),
			w.Release("B"),
			w.Release("A"),
			w.Release("A"),
		}},
		TTL: virtualTTL, RealTTL: waitedFor,
		Cases: []Case{
			{Lock: "reentrant-local", Want: checker.Expectation{
				checker.StrictExclusion: checker.Fail,
				checker.LeaseExclusion:  checker.Fail,
				checker.LeaseHonoured:   checker.Fail,
				checker.ResourceSafety:  checker.Fail,
			}},
			{
				Lock: "reentrant-hash", Want: checker.Expectation{checker.StrictExclusion: checker.Fail},
				Note: "Every lease lets B in while A stands still and believes in its own, so strictly two held the lock. What the count in " +
					"Redis keeps is B's section: A's re-entry was refused, so that A learnt of its loss and stopped.",
			},
		},
	}
}
