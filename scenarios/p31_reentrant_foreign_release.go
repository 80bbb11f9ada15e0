package scenarios

import (
	"github.com/lockbench/lockbench/checker"
	w "github.com/lockbench/lockbench/workloads"
)

func reentrantForeignRelease() Scenario {
	return Scenario{
		ID:     "P31",
		Name:   "reentrant-foreign-release",
		Title:  "a client releases a lock that another one holds, and has entered twice",
		Source: "C",
		Why: "A release must ask who holds the lock. This one asks for a thread's number alone, which A and B share: B's release, of a " +
			"lease that had ended, counted A's re-entry down. So A's first release freed a lock that A still held.",
		Script: w.Script{Cast: 3, Reenters: true, Steps: []w.Step{
			w.AcquireReentrant("B"),
			w.Pause("B"),
			w.LeaseEnds(),
			w.AcquireReentrant("A"),
			w.Reenter("A"),
			w.Resume("B"),
			w.Release("B"),
			w.AskCount("A"),
			w.Release("A"),
			w.Read("A"),
			w.AcquireReentrant("C"),
			w.Read("C"),
			w.Write("C"),
			w.Write("A"),
			w.Release("A"),
			w.Release("C"),
		}},
		TTL: virtualTTL, RealTTL: waitedFor,
		Cases: []Case{
			{Lock: "reentrant-hash-thread-id", Want: checker.Expectation{
				checker.StrictExclusion: checker.Fail,
				checker.LeaseExclusion:  checker.Fail,
				checker.LeaseHonoured:   checker.Fail,
				checker.Ownership:       checker.Fail,
				checker.Reentrancy:      checker.Fail,
				checker.TruthfulReplies: checker.Fail,
				checker.ResourceSafety:  checker.Fail,
			}},
			{
				Lock: "reentrant-hash", Want: checker.Expectation{checker.StrictExclusion: checker.Fail},
				Note: "Every lease lets A in while B stands still and has not released, so strictly two held the lock. B's late release was " +
					"refused, and A's count is what it was: that is what C promises of this lock.",
			},
			{
				Lock: "reentrant-local", Want: checker.Expectation{checker.StrictExclusion: checker.Fail, checker.TruthfulReplies: checker.Fail},
				Note: "Every lease lets A in while B stands still and has not released, so strictly two held the lock. A's lock is safe from B's " +
					"late release, which the token in the key refused; but B was told that it had worked (P62).",
			},
		},
	}
}
