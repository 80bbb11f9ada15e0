package scenarios

import (
	"github.com/lockbench/lockbench/checker"
	w "github.com/lockbench/lockbench/workloads"
)

func rwWriterStarvation() Scenario {
	// A and B take turns, so that one of them always reads; C tries after each turn. Once
	// they have stopped C gets in.
	steps := []w.Step{w.AcquireRead("A"), w.AcquireRead("B"), w.Acquire("C")}
	for range 4 {
		for _, reader := range []string{"A", "B"} {
			steps = append(steps,
				w.Read(reader), w.Release(reader), w.AcquireRead(reader),
				w.Acquire("C"), w.Read("C"), w.Write("C"), w.Release("C"))
		}
	}
	steps = append(steps, w.Release("A"), w.Release("B"), w.Acquire("C"), w.Read("C"), w.Write("C"), w.Release("C"))
	return Scenario{
		ID:     "P45",
		Name:   "rw-writer-starvation",
		Title:  "readers that overlap keep a writer out for ever",
		Source: "E",
		Why: "A reader is let in while others read, whoever else waits. A and B came and went so that one of them was always reading, and " +
			"C found a reader each time it tried: nothing tells the lock that a writer waits.",
		Faultless:  true,
		Overtaking: 3,
		Script:     w.Script{Cast: 3, Steps: steps},
		TTL:        virtualTTL, RealTTL: unhurriedly,
		Cases: []Case{
			{Lock: "rw-hash-timestamp", Want: checker.Expectation{checker.Fairness: checker.Fail}},
			{
				Lock: "rw-hash",
				Note: "A writer that is refused leaves an intent, which keeps new readers out for half a second: C was let in as soon as the " +
					"readers that were inside had gone, and then the readers had their turn.",
			},
			// That A's release is B's too is seen when both leave: that is P40.
			{Lock: "rw-two-key", Want: checker.Expectation{checker.Fairness: checker.Fail, checker.Ownership: checker.Fail}},
		},
	}
}
