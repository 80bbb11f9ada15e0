package scenarios

import (
	"github.com/lockbench/lockbench/checker"
	w "github.com/lockbench/lockbench/workloads"
)

func lateSetAfterCleanup() Scenario {
	const bounded = "The late SET left a key that nobody owns. Its TTL bounds that, and nothing else does: B had to wait for a lease that nobody had."
	return Scenario{
		ID:     "P27",
		Name:   "late-set-after-cleanup",
		Title:  "the command that takes the lock arrives after its client has given up",
		Source: "R",
		Why: "A's command was held up on the network. A gave up, and cleaned up what it could; then the command arrived, and took the lock for somebody who had " +
			"long gone. Without a TTL it stays for ever. A client that gives up cannot call back what it has sent.",
		Script: w.Script{Cast: 2, Steps: []w.Step{
			w.Acquire("B"),
			w.Read("B"),
			w.Write("B"),
			w.Release("B"),
			w.AcquireGivenUp("A"),
			w.LandLate("A"),
			w.AcquireEventually("B"),
			w.Read("B"),
			w.Write("B"),
			w.Release("B"),
		}},
		TTL: virtualTTL, RealTTL: majorityWaitedFor,
		Cases: []Case{
			{Lock: "setnx", Want: checker.Expectation{
				checker.DeadlockFreedom: checker.Fail,
				checker.Availability:    checker.Unknown, // nobody got the lock any more, but A may have had it
			}},
			{Lock: "setnx-px-lua", Note: bounded},
			{Lock: "redlock", Note: bounded},
		},
	}
}
