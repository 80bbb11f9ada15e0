package scenarios

import (
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/resource"
	w "github.com/lockbench/lockbench/workloads"
)

func fenceDrawnEarly() Scenario {
	return Scenario{
		ID:     "P78",
		Name:   "fence-drawn-early",
		Title:  "a fencing token is drawn before the lock is held",
		Source: "mutant (K 2016)",
		Why: "A drew its token and then asked for the lock, and was slow to ask. B drew the next one, had the lock, wrote and was done. Then A got the lock, with a token from " +
			"before B's: the register refuses A all through its lease.",
		Script: w.Script{Cast: 2, Steps: []w.Step{
			w.AcquireUntilSetHeld("A"),
			w.Acquire("B"),
			w.Read("B"),
			w.Write("B"),
			w.Release("B"),
			w.LetGo("A"),
			w.Read("A"),
			w.Write("A"),
			w.Release("A"),
		}},
		TTL: virtualTTL, RealTTL: unhurriedly,
		Cases: []Case{
			{Lock: "fenced-early", Guard: resource.Fence, Want: checker.Expectation{checker.Fencing: checker.Fail}},
			{
				Lock: "fenced", Guard: resource.Fence,
				Note: "The token is drawn by the script that takes the lock, so that tokens are in the order of holding: A's was the higher one.",
			},
		},
	}
}
