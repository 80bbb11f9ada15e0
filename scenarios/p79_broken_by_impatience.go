package scenarios

import (
	"github.com/lockbench/lockbench/checker"
	w "github.com/lockbench/lockbench/workloads"
)

func brokenByImpatience() Scenario {
	return Scenario{
		ID:     "P79",
		Name:   "broken-by-impatience",
		Title:  "a client is refused two hundred times while another holds the lock",
		Source: "mutant (D)",
		Why: "A branch that is taken once in a hundred refusals takes the lock for left behind and deletes it. A held it all the time, well within its lease; B asked often " +
			"enough, and got in.",
		Faultless: true,
		Script: w.Script{Cast: 2, Steps: []w.Step{
			w.Acquire("A"),
			w.Read("A"),
			w.AcquireOften("B", 200),
			w.Read("B"),
			w.Write("B"),
			w.Write("A"),
			w.Release("A"),
			w.Release("B"),
			w.AcquireEventually("B"),
			w.Read("B"),
			w.Write("B"),
			w.Release("B"),
		}},
		TTL: virtualTTL, RealTTL: unhurriedly,
		Cases: []Case{
			{Lock: "impatient", Want: checker.Expectation{
				checker.StrictExclusion: checker.Fail,
				checker.LeaseExclusion:  checker.Fail,
				checker.LeaseHonoured:   checker.Fail,
				checker.ResourceSafety:  checker.Fail,
			}},
			{Lock: "setnx-px-lua", Note: "The two hundredth refusal is like the first. What a crashed client leaves behind ends with its TTL."},
			{Lock: "bsm-redislock"},
			{Lock: "reentrant-hash"},
			{Lock: "redlock"},
			{Lock: "fair-queue"},
		},
	}
}
