package scenarios

import (
	"time"

	"github.com/lockbench/lockbench/checker"
	w "github.com/lockbench/lockbench/workloads"
)

func expiredDelSetnxRace() Scenario {
	return Scenario{
		ID:     "P04",
		Name:   "expired-del-setnx-race",
		Title:  "two clients read the same expired deadline, and both clear it away",
		Source: "B",
		Why: "The key holds the instant at which the lease ends, and who finds it past sends DEL and SETNX. A and B had both read C's old instant. " +
			"A took the lock over; B's DEL, meant for what C had left behind, removed A's new lock.",
		Script: w.Script{Cast: 3, Steps: []w.Step{
			w.AcquireUntilReplyHeld("C"),
			w.Crash("C"),
			w.LeaseTimePasses(time.Second), // the tolerance of getset
			w.AcquireUntilTakeoverHeld("B", 0),
			w.Acquire("A"),
			w.Read("A"),
			w.LetGo("B"),
			w.Read("B"),
			w.Write("B"),
			w.Write("A"),
			w.Release("A"),
			w.Release("B"),
		}},
		TTL: virtualTTL, RealTTL: waitedFor,
		Cases: []Case{
			{Lock: "setnx-timestamp-del", Want: checker.Expectation{
				checker.StrictExclusion: checker.Fail,
				checker.LeaseExclusion:  checker.Fail,
				checker.LeaseHonoured:   checker.Fail,
				checker.Ownership:       checker.Fail,
				checker.ResourceSafety:  checker.Fail,
			}},
			{
				Lock: "getset",
				Note: "GETSET told B that the instant was not the one it had read, so B was refused. It has overwritten A's instant all the same, " +
					"see getset-overwrite.",
			},
			{Lock: "setnx-px-lua"},
		},
	}
}
