package scenarios

import (
	"github.com/lockbench/lockbench/checker"
	w "github.com/lockbench/lockbench/workloads"
)

func execResultMisread() Scenario {
	return Scenario{
		ID:     "P10",
		Name:   "exec-result-misread",
		Title:  "a release that works says that the lock was not held",
		Source: "A 2.3, A 4.2",
		Why: "The listing compares EXEC's result, a Long, with an Integer, which Java never finds equal: every release that deletes the key says that it " +
			"did not. And it calls equals on what GET answered, which for a key that has expired is nothing: that release throws.",
		Script: w.Script{Cast: 2, Steps: []w.Step{
			w.Acquire("A"),
			w.Read("A"),
			w.Write("A"),
			w.Acquire("B"),
			w.Release("A"),
			w.Acquire("B"),
			w.Read("B"),
			w.Write("B"),
			w.Pause("B"),
			w.LeaseEnds(),
			w.Resume("B"),
			w.Release("B"),
		}},
		TTL: virtualTTL, RealTTL: waitedFor,
		Cases: []Case{
			{Lock: "setnx-px-watch-misread", Want: checker.Expectation{
				checker.TruthfulReplies: checker.Fail,
				// By what they were told nobody ever gave the lock back, so that nothing can be said of passing it on.
				checker.StrictExclusion: checker.Unknown,
				checker.LeaseExclusion:  checker.Unknown,
				checker.LeaseHonoured:   checker.Unknown,
				checker.Ownership:       checker.Unknown,
				checker.DeadlockFreedom: checker.Unknown,
				checker.Availability:    checker.Unknown,
			}},
			{Lock: "setnx-px-watch"},
			{Lock: "setnx-px-lua"},
		},
	}
}
