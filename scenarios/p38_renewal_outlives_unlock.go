package scenarios

import (
	"github.com/lockbench/lockbench/checker"
	w "github.com/lockbench/lockbench/workloads"
)

func renewalOutlivesUnlock() Scenario {
	return Scenario{
		ID:     "P38",
		Name:   "renewal-outlives-unlock",
		Title:  "a renewal is under way while its lease is released",
		Source: "redisson#7272",
		Why: "The release overtook a renewal. When that arrived there was no key, so it set one, and its loop, which the release had not " +
			"stopped, goes on to renew it. Nobody holds the lock, and nobody can get it.",
		Script: w.Script{Cast: 2, Steps: []w.Step{
			w.Acquire("A"),
			w.Read("A"),
			w.Acquire("B"),
			w.Write("A"),
			w.RenewalHeld("A"),
			w.Release("A"),
			w.LetGo("A"),
			w.AcquireEventually("B"),
			w.Read("B"),
			w.Write("B"),
			w.Release("B"),
		}},
		TTL: virtualTTL, RealTTL: waitedFor,
		Cases: []Case{
			{Lock: "watchdog-recreate", Want: checker.Expectation{
				checker.DeadlockFreedom: checker.Fail,
				checker.Availability:    checker.Fail,
			}},
			{Lock: "watchdog", Note: "The renewal that came too late found no key with its token, and did nothing."},
			{Lock: "redisson-style"},
		},
	}
}
