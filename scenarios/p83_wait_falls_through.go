package scenarios

import (
	"github.com/lockbench/lockbench/checker"
	w "github.com/lockbench/lockbench/workloads"
)

func waitFallsThrough() Scenario {
	return Scenario{
		ID:     "P83",
		Name:   "wait-falls-through",
		Title:  "a wait for the lock ends in vain, and is taken for an acquire",
		Source: "B (with P48)",
		Why: "The loop that waits ends when it has the lock and when it has waited for long enough, and what follows does not ask which. A held the lock well within its lease; B " +
			"waited, gave up, and was told that it has the lock.",
		Faultless: true,
		Script: w.Script{Cast: 2, Waits: true, Steps: []w.Step{
			w.Acquire("A"),
			w.Read("A"),
			w.Await("B"),
			w.Work("A", 0.75),
			w.Write("A"),
			w.Release("A"),
			w.TurnsEnd("B"),
		}},
		TTL: virtualTTL, RealTTL: majorityWaitedFor,
		Cases: []Case{
			{Lock: "wait-falls-through", Want: checker.Expectation{
				checker.StrictExclusion: checker.Fail,
				checker.LeaseExclusion:  checker.Fail,
				checker.LeaseHonoured:   checker.Fail,
				checker.TruthfulReplies: checker.Fail, // B's release of what it was told it had was refused
				checker.ResourceSafety:  checker.Fail,
			}},
			{Lock: "lua-uuid", Note: "A wait ends with the lock or with a refusal: B got it when A had released."},
			{Lock: "redisson-style"},
			{Lock: "fair-queue"},
		},
	}
}
