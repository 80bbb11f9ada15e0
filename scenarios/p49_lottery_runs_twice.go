package scenarios

import (
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/resource"
	w "github.com/lockbench/lockbench/workloads"
)

func lotteryRunsTwice() Scenario {
	const marked = "Every lock lets the next one in after a release. C got the lock, found under it that round 1 had been drawn, and did not draw again."
	twice := checker.Expectation{checker.SingleWinner: checker.Fail}
	return Scenario{
		ID:     "P49",
		Name:   "lottery-runs-twice",
		Title:  "an instance that comes late runs the job again",
		Source: "D",
		Why: "A lock says who works now, not who has worked. A and B woke up together, and B found the lock taken and went away. C's timer was " +
			"late by more than the job takes: A had released by then, so C was given the lock as A had been, and drew again.",
		Faultless: true,
		Script: w.Script{Cast: 3, Steps: []w.Step{
			w.Acquire("A"),
			w.Acquire("B"),
			w.Read("A"),
			w.Draw("A", 1),
			w.Release("A"),
			w.Acquire("C"),
			w.Read("C"),
			w.Draw("C", 1),
			w.Release("C"),
		}},
		TTL: virtualTTL, RealTTL: unhurriedly,
		Cases: []Case{
			{Lock: "setnx-px-lua", Want: twice},
			{Lock: "setnx-px-lua", Guard: resource.DoneMarker, Note: marked},
			{Lock: "redlock", Want: twice},
			{Lock: "redlock", Guard: resource.DoneMarker, Note: marked},
			{
				Lock: "fenced", Guard: resource.Fence, Want: twice,
				Note: "A fence keeps out who comes with an old token. C's was new: it came after A, and nothing was wrong with its lock.",
			},
		},
	}
}
