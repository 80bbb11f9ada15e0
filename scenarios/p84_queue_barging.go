package scenarios

import (
	"github.com/lockbench/lockbench/checker"
	w "github.com/lockbench/lockbench/workloads"
)

func queueBarging() Scenario {
	return Scenario{
		ID:     "P84",
		Name:   "queue-barging",
		Title:  "a holder that comes and goes overtakes those that wait in the queue",
		Source: "Redisson fair lock",
		Why: "The lock promises to serve those that wait in their order, and looks at its queue only if it is not free. A released and acquired at once, again and again; B, " +
			"first in the queue, asked in between and found A each time.",
		Faultless:  true,
		Overtaking: 2,
		Script: w.Script{Cast: 2, Waits: true, Queues: true, Steps: []w.Step{
			w.Acquire("A"),
			w.Read("A"),
			w.Write("A"),
			w.Acquire("B"),
			w.Await("B"),
			w.ComeAndGo("A", 8),
			w.Release("A"),
			w.TurnsEnd("B"),
		}},
		TTL: virtualTTL, RealTTL: unhurriedly,
		Cases: []Case{
			{Lock: "fair-queue-barging", Want: checker.Expectation{checker.Fairness: checker.Fail}},
			{Lock: "fair-queue", Note: "Whoever comes while others wait is refused, also if the lock is free: B had its turn, and then A."},
		},
	}
}
