package scenarios

import (
	"github.com/lockbench/lockbench/checker"
	w "github.com/lockbench/lockbench/workloads"
)

func getDelRace() Scenario {
	return Scenario{
		ID:     "P08",
		Name:   "get-del-race",
		Title:  "the lease ends while the command that deletes the key is on its way",
		Source: "A 2.3, 4.4",
		Why: "Release checks the token with GET and deletes with DEL, and between the two anything may happen. A's lease ended there and " +
			"B took the lock; A's DEL, sent for its own lock, removed B's.",
		Script: w.Script{Cast: 3, Steps: []w.Step{
			w.Acquire("A"),
			w.Read("A"),
			w.Write("A"),
			w.ReleaseUntilDeleteHeld("A"),
			w.LeaseEnds(),
			w.Acquire("B"),
			w.Read("B"),
			w.LetGo("A"),
			w.Acquire("C"),
			w.Read("C"),
			w.Write("C"),
			w.Write("B"),
			w.Release("B"),
			w.Release("C"),
		}},
		TTL: virtualTTL, RealTTL: waitedFor,
		Cases: []Case{
			{Lock: "setnx-px-get-del", Want: checker.Expectation{
				checker.StrictExclusion: checker.Fail,
				checker.LeaseExclusion:  checker.Fail,
				checker.LeaseHonoured:   checker.Fail,
				checker.Ownership:       checker.Fail,
				checker.ResourceSafety:  checker.Fail,
			}},
			{Lock: "setnx-px-lua"},
		},
	}
}
