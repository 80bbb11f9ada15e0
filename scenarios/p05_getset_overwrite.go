package scenarios

import (
	"time"

	"github.com/lockbench/lockbench/checker"
	w "github.com/lockbench/lockbench/workloads"
)

func getsetOverwrite() Scenario {
	return Scenario{
		ID:     "P05",
		Name:   "getset-overwrite",
		Title:  "the loser of a race moves the end of the winner's lease, and then the winner dies",
		Source: "B",
		Why: "GETSET writes before it can compare. A had taken the ended lease over; B, who wanted the lock for longer, was refused, but its own " +
			"instant stands in the key now, and GETSET has dropped the TTL that A had set. When A died, the lock stayed taken for as long as B had asked for.",
		Script: w.Script{Cast: 3, Steps: []w.Step{
			w.AcquireUntilReplyHeld("C"),
			w.Crash("C"),
			w.LeaseTimePasses(time.Second), // the tolerance of getset
			w.AcquireUntilTakeoverHeld("B", time.Minute),
			w.Acquire("A"),
			w.Read("A"),
			w.Write("A"),
			w.LetGo("B"),
			w.Crash("A"),
			w.AcquireEventually("B"),
			w.Read("B"),
			w.Write("B"),
			w.Release("B"),
		}},
		TTL: virtualTTL, RealTTL: waitedFor,
		Cases: []Case{
			{Lock: "getset", Want: checker.Expectation{
				checker.DeadlockFreedom: checker.Fail,
				checker.Availability:    checker.Unknown, // nobody got the lock any more, but somebody may have had it
			}},
			{Lock: "setnx-px-lua"},
		},
	}
}
