package scenarios

import (
	"github.com/lockbench/lockbench/checker"
	w "github.com/lockbench/lockbench/workloads"
)

func scriptFlush() Scenario {
	again := "NOSCRIPT was answered with the whole script (EVAL), and nobody noticed."
	return Scenario{
		ID:     "P57",
		Name:   "script-flush",
		Title:  "the server forgets its scripts between acquire and release",
		Source: "R",
		Why: "The client had loaded its scripts once and named them by their digests ever after. Redis may forget them at any time (SCRIPT " +
			"FLUSH, a restart, a failover): from then on it could neither release nor acquire.",
		Gaps: notOwnServers("makes a server forget its scripts"),
		Script: w.Script{Cast: 2, Steps: []w.Step{
			w.Acquire("B"),
			w.Read("B"),
			w.Write("B"),
			w.Release("B"),
			w.Acquire("A"),
			w.Read("A"),
			w.Acquire("B"),
			w.ScriptsForgotten(),
			w.Write("A"),
			w.Release("A"),
			w.LeaseRunsOut(),
			w.AcquireEventually("B"),
			w.Read("B"),
			w.Write("B"),
			w.Release("B"),
		}},
		TTL: virtualTTL, RealTTL: majorityWaitedFor,
		Cases: []Case{
			{Lock: "fenced-evalsha", Want: checker.Expectation{
				checker.Availability: checker.Fail,
			}},
			{Lock: "fenced", Note: again},
			{Lock: "setnx-px-lua", Note: again},
			{Lock: "lua-uuid", Note: again},
			{Lock: "reentrant-hash", Note: again},
			{Lock: "redisson-style", Note: again},
			{Lock: "rw-hash", Note: again},
			{Lock: "redlock", Note: again},
			{Lock: "bsm-redislock", Note: again},
		},
	}
}
