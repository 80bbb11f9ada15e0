package scenarios

import (
	"github.com/lockbench/lockbench/checker"
	w "github.com/lockbench/lockbench/workloads"
)

func rwCrossSlot() Scenario {
	return Scenario{
		ID:     "P41",
		Name:   "rw-cross-slot",
		Title:  "the lock's two keys are in different slots of a Redis Cluster",
		Source: "E 1",
		Why: "A Redis Cluster runs a script only if all of its keys are in one hash slot, and the readers' and the writer's key are not: each " +
			"acquire is answered by CROSSSLOT. On a single server the same lock works.",
		ClusterMode: true,
		Faultless:   true,
		Script: w.Script{Cast: 2, Steps: []w.Step{
			w.AcquireRead("A"),
			w.Read("A"),
			w.Acquire("B"),
			w.Release("A"),
			w.Acquire("B"),
			w.Read("B"),
			w.Write("B"),
			w.Release("B"),
		}},
		Gaps: map[string]string{"external": "whether servers of your own are in cluster mode is not lockbench's to decide"},
		TTL:  virtualTTL, RealTTL: waitedFor,
		Cases: []Case{
			{Lock: "rw-two-key", Want: checker.Expectation{
				checker.Availability:    checker.Fail,
				checker.DeadlockFreedom: checker.Fail,
				// Nobody ever held the lock, so nothing can be said of holding it.
				checker.StrictExclusion: checker.Unknown,
				checker.LeaseExclusion:  checker.Unknown,
				checker.LeaseHonoured:   checker.Unknown,
				checker.Ownership:       checker.Unknown,
			}},
			{Lock: "rw-hash"},
		},
	}
}
