package scenarios

import (
	"time"

	"github.com/lockbench/lockbench/checker"
	w "github.com/lockbench/lockbench/workloads"
)

func luaErrorHalfDone() Scenario {
	return Scenario{
		ID:     "P28",
		Name:   "lua-error-half-done",
		Title:  "a script fails after its first command has taken the key",
		Source: "B",
		Why: "A script is not a transaction: what it has done before an error stays done. SETNX had taken the key when EXPIRE refused its argument, a lease that is no " +
			"whole number of seconds. The key has no TTL and no owner.",
		Faultless: true,
		Script: w.Script{Cast: 2, Steps: []w.Step{
			w.Acquire("B"),
			w.Read("B"),
			w.Acquire("A"),
			w.Write("B"),
			w.Release("B"),
			w.AcquireLonger("A", time.Second/2),
			w.Read("A"),
			w.Write("A"),
			w.Release("A"),
			w.AcquireEventually("B"),
			w.Read("B"),
			w.Write("B"),
			w.Release("B"),
		}},
		TTL: virtualTTL, RealTTL: waitedFor,
		Cases: []Case{
			{Lock: "lua-setnx-expire", Want: checker.Expectation{
				checker.DeadlockFreedom: checker.Fail,
			}},
			{
				Lock: "lua-uuid",
				Note: "The argument is checked before anything is sent: A is told what is wrong with its lease, and nothing is left behind.",
			},
			{Lock: "setnx-px-lua"},
		},
	}
}
