package scenarios

import (
	"github.com/lockbench/lockbench/checker"
	w "github.com/lockbench/lockbench/workloads"
)

func watchExpiredKey() Scenario {
	return Scenario{
		ID:     "P09",
		Name:   "watch-expired-key",
		Title:  "the lease ends between the look at the token and WATCH",
		Source: "A 2.3",
		Why: "WATCH notices what happens after it. The release looked at the token first: A's lease ended then and B took the lock, WATCH began to " +
			"watch B's key, saw nobody touch it, and EXEC deleted it.",
		Script: w.Script{Cast: 3, Steps: []w.Step{
			w.Acquire("A"),
			w.Read("A"),
			w.Write("A"),
			w.ReleaseUntilLookHeld("A"),
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
			// And a key that merely expires, after WATCH and before EXEC.
			w.Acquire("A"),
			w.ReleaseUntilDeleteHeld("A"),
			w.LeaseEnds(),
			w.LetGo("A"),
		}},
		TTL: virtualTTL, RealTTL: waitedFor,
		Cases: []Case{
			{Lock: "setnx-px-get-watch", Want: checker.Expectation{
				checker.StrictExclusion: checker.Fail,
				checker.LeaseExclusion:  checker.Fail,
				checker.LeaseHonoured:   checker.Fail,
				checker.Ownership:       checker.Fail,
				checker.ResourceSafety:  checker.Fail,
			}},
			{
				Lock: "setnx-px-watch",
				Note: "WATCH came before the look, so EXEC refused when B had taken the key. A key that merely expired was not deleted either.",
			},
			{Lock: "setnx-px-lua"},
		},
	}
}
