package scenarios

import (
	"github.com/lockbench/lockbench/checker"
	w "github.com/lockbench/lockbench/workloads"
)

func redlockHungNode() Scenario {
	return Scenario{
		ID:     "P25",
		Name:   "redlock-hung-node",
		Title:  "one of five servers stands still, and clients wait for it",
		Source: "A 2.5 step 2, redsync#140",
		Why: "The library gives each server a small time-out, and go-redis with its default options does not look at it: it waited for the " +
			"one server that stood still for seconds. By then the lease that the other four had granted was over, every time. A server that " +
			"hangs must cost no more than one that is dead (ContextTimeoutEnabled).",
		Gaps: notOwnServers("stops a server"),
		Script: w.Script{Cast: 2, Steps: []w.Step{
			w.Acquire("A"),
			w.Read("A"),
			w.Acquire("B"),
			w.ServerStalls(4),
			w.Write("A"),
			w.Release("A"),
			w.AcquireEventually("B"),
			w.Read("B"),
			w.Write("B"),
			w.Release("B"),
		}},
		// Less than the 5 s that go-redis waits for a reply, once or more for each call.
		TTL: virtualTTL, RealTTL: virtualTTL,
		Cases: []Case{
			{Lock: "redsync", Want: checker.Expectation{checker.Availability: checker.Fail}},
			{Lock: "redlock"},
			{Lock: "redsync-context-timeout"},
		},
	}
}
