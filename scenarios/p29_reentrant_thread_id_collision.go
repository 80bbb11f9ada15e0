package scenarios

import (
	"github.com/lockbench/lockbench/checker"
	w "github.com/lockbench/lockbench/workloads"
)

func reentrantThreadIDCollision() Scenario {
	return Scenario{
		ID:     "P29",
		Name:   "reentrant-thread-id-collision",
		Title:  "threads of two processes have the same number",
		Source: "C",
		Why: "The lock knows its holder by the number of a thread, and every process has a thread 1. So B's acquire looked like a " +
			"re-entry of A's: it was granted, and counted as A's.",
		Faultless: true,
		Script: w.Script{Cast: 2, Reenters: true, Steps: []w.Step{
			w.AcquireReentrant("A"),
			w.Reenter("A"),
			w.AskCount("A"),
			w.Release("A"),
			w.Read("A"),
			w.AcquireReentrant("B"),
			w.AskCount("B"),
			w.Read("B"),
			w.Write("B"),
			w.Write("A"),
			w.Release("A"),
			w.Release("B"),
		}},
		TTL: virtualTTL, RealTTL: unhurriedly,
		Cases: []Case{
			{Lock: "reentrant-hash-thread-id", Want: checker.Expectation{
				checker.StrictExclusion: checker.Fail,
				checker.LeaseExclusion:  checker.Fail,
				checker.LeaseHonoured:   checker.Fail,
				checker.Reentrancy:      checker.Fail,
				checker.ResourceSafety:  checker.Fail,
			}},
			{Lock: "reentrant-hash"},
			{Lock: "redisson-style"},
		},
	}
}
