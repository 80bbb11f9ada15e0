package scenarios

import (
	"github.com/lockbench/lockbench/checker"
	w "github.com/lockbench/lockbench/workloads"
)

func existsThenSet() Scenario {
	return Scenario{
		ID:     "P03",
		Name:   "exists-then-set",
		Title:  "two clients find no key, and both set it",
		Source: "D",
		Why: "The lock looks with EXISTS and takes with SET, and between the two anything may happen. A had seen that the key was free; by the " +
			"time its SET arrived B had taken it, and a SET without NX does not look.",
		Script: w.Script{Cast: 2, Steps: []w.Step{
			w.AcquireUntilSetHeld("A"),
			w.Acquire("B"),
			w.Read("B"),
			w.LetGo("A"),
			w.Read("A"),
			w.Write("A"),
			w.Write("B"),
			w.Release("A"),
			w.Release("B"),
		}},
		TTL: virtualTTL, RealTTL: unhurriedly,
		Cases: []Case{
			{Lock: "exists-set", Want: checker.Expectation{
				checker.StrictExclusion: checker.Fail,
				checker.LeaseExclusion:  checker.Fail,
				checker.LeaseHonoured:   checker.Fail,
				checker.ResourceSafety:  checker.Fail,
			}},
			{Lock: "setnx-px-lua"},
			{
				Lock: "setnx",
				Note: "SETNX looks and takes in one command: that is all that this race needs. What setnx lacks is a TTL, see crash-no-ttl.",
			},
			{Lock: "redlock"},
		},
	}
}
