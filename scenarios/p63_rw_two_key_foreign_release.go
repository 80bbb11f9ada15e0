package scenarios

import (
	"github.com/lockbench/lockbench/checker"
	w "github.com/lockbench/lockbench/workloads"
)

func rwTwoKeyForeignRelease() Scenario {
	return Scenario{
		ID:     "P63",
		Name:   "rw-two-key-foreign-release",
		Title:  "a writer that outlived its lease releases the next writer's key",
		Source: "E 1",
		Why: "The writer's key says that there is a writer and not which one, and release is a bare DEL. A came back after its lease had ended " +
			"and deleted B's key, so that a reader got in while B was writing.",
		Script: w.Script{Cast: 3, Steps: []w.Step{
			w.Acquire("A"),
			w.Pause("A"),
			w.LeaseEnds(),
			w.Acquire("B"),
			w.Read("B"),
			w.Resume("A"),
			w.Release("A"),
			w.AcquireRead("C"),
			w.Read("C"),
			w.Write("B"),
			w.Read("C"),
			w.Release("B"),
			w.Release("C"),
			w.AcquireRead("C"),
			w.Read("C"),
			w.Release("C"),
		}},
		TTL: virtualTTL, RealTTL: waitedFor,
		Cases: []Case{
			{Lock: "rw-two-key", Want: checker.Expectation{
				checker.StrictExclusion: checker.Fail,
				checker.LeaseExclusion:  checker.Fail,
				checker.LeaseHonoured:   checker.Fail,
				checker.Ownership:       checker.Fail,
				checker.TruthfulReplies: checker.Fail,
				checker.ResourceSafety:  checker.Fail,
			}},
			{
				Lock: "rw-hash", Want: checker.Expectation{checker.StrictExclusion: checker.Fail},
				Note: "Every lease lets B in while A stands still and has not released, so strictly two held the lock. What an entry " +
					"for each holder keeps is B's hold: A's late release was refused, and C did not get in.",
			},
		},
	}
}
