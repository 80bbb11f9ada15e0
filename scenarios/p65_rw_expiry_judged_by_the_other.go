package scenarios

import (
	"github.com/lockbench/lockbench/checker"
	w "github.com/lockbench/lockbench/workloads"
)

func rwExpiryJudgedByTheOther() Scenario {
	return Scenario{
		ID:     "P65",
		Name:   "rw-expiry-judged-by-the-other",
		Title:  "a client that comes for a short time finds longer holds ended",
		Source: "E 2",
		Why: "The hash holds when a holder came and not for how long, so that whoever asks measures the others' holds by its own time-out. B's " +
			"was shorter than A's, and A had held the lock for longer than that: B came in while A was writing.",
		Faultless: true,
		Script: w.Script{Cast: 2, Steps: []w.Step{
			w.Acquire("A"),
			w.Read("A"),
			w.LeaseAges("A", 0.6),
			w.AcquireFor("B", 0.5),
			w.Read("B"),
			w.Write("B"),
			w.Write("A"),
			w.Release("B"),
			w.Release("A"),
		}},
		TTL: virtualTTL, RealTTL: 2 * waitedFor,
		Cases: []Case{
			{Lock: "rw-hash-timestamp", Want: checker.Expectation{
				checker.StrictExclusion: checker.Fail,
				checker.LeaseExclusion:  checker.Fail,
				checker.LeaseHonoured:   checker.Fail,
				checker.ResourceSafety:  checker.Fail,
			}},
			{Lock: "rw-hash"},
		},
	}
}
