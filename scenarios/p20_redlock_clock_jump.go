package scenarios

import (
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/resource"
	w "github.com/lockbench/lockbench/workloads"
)

func redlockClockJump() Scenario {
	return Scenario{
		ID:     "P20",
		Name:   "redlock-clock-jump",
		Title:  "the clock of one of A's three servers jumps, and the server lets A's key go",
		Source: "A 2.5, K",
		Why: "A held n1, n2 and n3, a majority. The clock of n3 jumped forward and A's key expired there long before its time, so that n3 " +
			"was free for B: with n4 and n5 that is a majority too. Redlock needs servers whose clocks run alike.",
		Clocks: true,
		Gaps:   notOwnServers("sets the clock of a server"),
		Script: w.Script{Cast: 2, Steps: []w.Step{
			w.CutOffFrom("A", 3, 4),
			w.Acquire("A"),
			w.Read("A"),
			w.ServerClockJumps(2, 2),
			w.Reconnect("A"),
			w.Acquire("B"),
			w.Read("B"),
			w.Write("B"),
			w.Write("A"),
			w.Release("A"),
			w.Release("B"),
		}},
		TTL: virtualTTL, RealTTL: unhurriedly,
		Cases: minorityForgets(),
	}
}

// minorityForgets is what is expected where one server of a majority forgets its holder.
func minorityForgets() []Case {
	return []Case{
		{Lock: "redlock", Want: checker.Expectation{
			checker.StrictExclusion: checker.Fail,
			checker.LeaseExclusion:  checker.Fail,
			checker.LeaseHonoured:   checker.Fail,
			checker.ResourceSafety:  checker.Fail,
		}},
		{
			Lock: "redlock", Guard: resource.Epoch, Want: checker.Expectation{
				checker.StrictExclusion: checker.Fail,
				checker.LeaseExclusion:  checker.Fail,
				checker.LeaseHonoured:   checker.Fail,
			},
			Note: "Two held the lock. What the epoch saves is the resource: it had let B's section begin and refused A's write.",
		},
	}
}
