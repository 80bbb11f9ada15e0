package scenarios

import (
	"github.com/lockbench/lockbench/checker"
	w "github.com/lockbench/lockbench/workloads"
)

func rwClientClock() Scenario {
	return Scenario{
		ID:     "P44",
		Name:   "rw-client-clock",
		Title:  "a client whose clock is ahead finds the writer's hold ended",
		Source: "E 2",
		Why: "Whether a hold has ended is worked out from two clients' clocks: the holder's when it came, and the clock of who asks. B's was " +
			"ahead, so that A's hold looked older than its time-out, and B read while A wrote.",
		InProcess: "their clocks are the machine's",
		Script: w.Script{Cast: 2, Steps: []w.Step{
			w.ClientClockJumps("B", 1.5),
			w.Acquire("A"),
			w.Read("A"),
			w.AcquireRead("B"),
			w.Read("B"),
			w.Write("A"),
			w.Read("B"),
			w.Release("B"),
			w.Release("A"),
			w.AcquireRead("B"),
			w.Read("B"),
			w.Release("B"),
		}},
		TTL: virtualTTL, RealTTL: unhurriedly,
		Cases: []Case{
			{Lock: "rw-hash-timestamp", Want: checker.Expectation{
				checker.StrictExclusion: checker.Fail,
				checker.LeaseExclusion:  checker.Fail,
				checker.LeaseHonoured:   checker.Fail,
				checker.ResourceSafety:  checker.Fail,
			}},
			{Lock: "rw-hash"},
		},
	}
}
