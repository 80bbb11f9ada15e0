package scenarios

import (
	"github.com/lockbench/lockbench/checker"
	w "github.com/lockbench/lockbench/workloads"
)

func deleteWithoutCheck() Scenario {
	return Scenario{
		ID:     "P07",
		Name:   "delete-without-check",
		Title:  "a client that outlived its lease releases while the next one holds the lock",
		Source: "A 4.3, B, D",
		Why: "Release is a bare DEL: it deletes whatever is under the key, whoever put it there. A came back after its lease had " +
			"ended and deleted B's lock, so C got in beside B.",
		Script: w.Script{Cast: 3, Steps: []w.Step{
			w.Acquire("A"),
			w.Pause("A"),
			w.LeaseEnds(),
			w.Acquire("B"),
			w.Read("B"),
			w.Resume("A"),
			w.Release("A"),
			w.Acquire("C"),
			w.Read("C"),
			w.Write("C"),
			w.Write("B"),
			w.Release("B"),
			w.Release("C"),
		}},
		TTL: virtualTTL, RealTTL: waitedFor,
		Cases: []Case{
			{Lock: "setnx-px-del", Want: checker.Expectation{
				checker.StrictExclusion: checker.Fail,
				checker.LeaseExclusion:  checker.Fail,
				checker.LeaseHonoured:   checker.Fail,
				checker.Ownership:       checker.Fail,
				checker.TruthfulReplies: checker.Fail,
				checker.ResourceSafety:  checker.Fail,
			}},
			{
				Lock: "setnx-px-lua", Want: checker.Expectation{checker.StrictExclusion: checker.Fail},
				Note: "Every lease lets B in while A stands still and has not released, so strictly two held the lock. What the " +
					"compare-and-delete keeps is B's lock: A's late release was refused, and C did not get in.",
			},
		},
	}
}
