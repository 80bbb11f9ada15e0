package scenarios

import (
	"github.com/lockbench/lockbench/checker"
	w "github.com/lockbench/lockbench/workloads"
)

func getsetClockSkew() Scenario {
	stolen := checker.Expectation{
		checker.StrictExclusion: checker.Fail,
		checker.LeaseExclusion:  checker.Fail,
		checker.LeaseHonoured:   checker.Fail,
		checker.Ownership:       checker.Fail,
		checker.ResourceSafety:  checker.Fail,
	}
	return Scenario{
		ID:     "P06",
		Name:   "getset-clock-skew",
		Title:  "a client whose clock is ahead takes a lease that has not ended",
		Source: "B",
		Why: "When a lease ends is decided by the clock of whoever wants the lock. B's clock is ahead by more than a lease and the second that is " +
			"tolerated, so to B everybody's lease has ended.",
		InProcess: "their clocks are the machine's",
		Script: w.Script{Cast: 2, Steps: []w.Step{
			w.ClientClockJumps("B", 10),
			w.Acquire("A"),
			w.Read("A"),
			w.Acquire("B"),
			w.ClientClockIsRight("B"),
			w.Read("B"),
			w.Write("B"),
			w.Write("A"),
			w.Release("A"),
			w.Release("B"),
		}},
		TTL: virtualTTL, RealTTL: unhurriedly,
		Cases: []Case{
			{Lock: "getset", Want: stolen},
			{Lock: "setnx-px-lua", Note: "Only the server counts, from when it was asked. No clock of a client matters."},
			{Lock: "setnx-timestamp-del", Want: stolen},
			{Lock: "redlock"},
		},
	}
}
