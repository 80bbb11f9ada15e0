package scenarios

import (
	"github.com/lockbench/lockbench/checker"
	w "github.com/lockbench/lockbench/workloads"
)

func deadlineFromAnswer() Scenario {
	outlived := checker.Expectation{checker.StrictExclusion: checker.Fail}
	return Scenario{
		ID:     "P75",
		Name:   "deadline-from-answer",
		Title:  "the answer to A's acquire comes after its key has expired",
		Source: "A 2.5 step 3, on one master",
		Why: "The server counts from when it sets the key, and the client from when it hears of that. A's answer took longer than the TTL: the key had ended and B had the " +
			"lock, when A was told that it has it for a whole TTL from now on.",
		Script: w.Script{Cast: 2, Steps: []w.Step{
			w.AcquireUntilReplyHeld("A"),
			w.LeaseEnds(),
			w.Acquire("B"),
			w.Read("B"),
			w.LetGo("A"),
			w.StopAtDeadline("A"),
			w.Read("A"),
			w.Write("B"),
			w.Write("A"),
			w.Release("A"),
			w.Release("B"),
		}},
		TTL: virtualTTL, RealTTL: majorityWaitedFor,
		Cases: []Case{
			{Lock: "deadline-late", Want: checker.Expectation{
				checker.StrictExclusion: checker.Fail,
				checker.LeaseExclusion:  checker.Fail,
				checker.ResourceSafety:  checker.Fail,
				// Not so lease honoured: the server kept A's lease, and it was over when A had its answer.
			}},
			{
				Lock: "setnx-px-lua", Want: outlived,
				Note: "A's clock was read before a byte was sent: the lease that A was told of was over when A heard of it, and A walked away. Strictly, two were granted " +
					"the lock.",
			},
			{Lock: "rw-hash", Want: outlived},
			{Lock: "fair-queue", Want: outlived},
		},
	}
}
