package scenarios

import (
	"github.com/lockbench/lockbench/checker"
	w "github.com/lockbench/lockbench/workloads"
)

func crashNoTTL() Scenario {
	forever := checker.Expectation{
		checker.DeadlockFreedom: checker.Fail,
		checker.Availability:    checker.Fail,
	}
	return Scenario{
		ID:     "P01",
		Name:   "crash-no-ttl",
		Title:  "a holder of a lock without a TTL dies before it can release",
		Source: "A 2.1, D",
		Why: "Only its holder ends this lock. A died inside its section, and the key that it had set stays: nobody else may delete it, and " +
			"without a TTL Redis never does.",
		Script: w.Script{Cast: 2, Steps: []w.Step{
			w.Acquire("A"),
			w.Read("A"),
			w.Write("A"),
			w.Crash("A"),
			w.AcquireEventually("B"),
			w.Read("B"),
			w.Write("B"),
			w.Release("B"),
		}},
		TTL: virtualTTL, RealTTL: majorityWaitedFor,
		Cases: []Case{
			{Lock: "setnx", Want: forever},
			{Lock: "setnx-px-lua"},
			{Lock: "exists-set", Want: forever},
			{Lock: "redlock"},
		},
	}
}
