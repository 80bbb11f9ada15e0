package scenarios

import (
	"github.com/lockbench/lockbench/checker"
	w "github.com/lockbench/lockbench/workloads"
)

func redlockSlowMajority() Scenario {
	return Scenario{
		ID:     "P23",
		Name:   "redlock-slow-majority",
		Title:  "the answer that makes A's majority comes after the keys have expired",
		Source: "A 2.5 step 3",
		Why: "A had n1 and n2 at once, and n3's answer took longer than the TTL. By then all three keys had expired and B had the lock; A " +
			"counted its lease from the last answer and believed in it. The time that acquiring takes must come off the validity.",
		Script: w.Script{Cast: 3, Steps: []w.Step{
			w.CutOffFrom("A", 3, 4),
			w.AcquireUntilReplyOfShardHeld("A", 2),
			w.LeaseEnds(),
			w.Acquire("B"),
			w.Read("B"),
			w.Acquire("C"),
			w.LetGo("A"),
			w.Read("A"),
			w.Write("B"),
			w.Write("A"),
			w.Release("A"),
			w.Release("B"),
		}},
		TTL: virtualTTL, RealTTL: majorityWaitedFor,
		Cases: []Case{
			{Lock: "redlock-no-validity", Want: checker.Expectation{
				checker.StrictExclusion: checker.Fail,
				checker.LeaseExclusion:  checker.Fail,
				checker.ResourceSafety:  checker.Fail,
				// Not so lease honoured: the servers kept A's lease, and it was over when A had its answer.
			}},
			{
				Lock: "redlock",
				Note: "A waited for n3 no longer than its small time-out, had no majority, and gave its keys back.",
			},
		},
	}
}
