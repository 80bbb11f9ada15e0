package scenarios

import (
	"github.com/lockbench/lockbench/checker"
	w "github.com/lockbench/lockbench/workloads"
)

func crashBetweenSetnxExpire() Scenario {
	return Scenario{
		ID:     "P02",
		Name:   "crash-between-setnx-expire",
		Title:  "a client dies after its first command has taken the key",
		Source: "A 3.3, B, D",
		Why: "The lock is taken and given its TTL by two commands. The client died between them, so the key has no TTL and " +
			"no owner: no waiting helps, somebody has to delete it by hand.",
		Script: w.Script{Cast: 2, Steps: []w.Step{
			w.AcquireUntilReplyHeld("A"),
			w.Crash("A"),
			w.AcquireEventually("B"),
			w.Read("B"),
			w.Write("B"),
			w.Release("B"),
		}},
		TTL: virtualTTL, RealTTL: majorityWaitedFor,
		Cases: []Case{
			{Lock: "setnx-expire", Want: checker.Expectation{
				checker.DeadlockFreedom: checker.Fail,
				checker.Availability:    checker.Fail,
				// Nobody ever held the lock, so nothing can be said of holding it.
				checker.StrictExclusion: checker.Unknown,
				checker.LeaseExclusion:  checker.Unknown,
				checker.LeaseHonoured:   checker.Unknown,
				checker.Ownership:       checker.Unknown,
			}},
			{Lock: "setnx-px-lua"},
			{Lock: "redlock"},
		},
	}
}
