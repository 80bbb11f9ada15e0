package scenarios

import (
	w "github.com/lockbench/lockbench/workloads"
)

func redlockMinorityDown() Scenario {
	lost, _, _ := forgotten()
	return Scenario{
		ID:     "P19",
		Name:   "redlock-minority-down",
		Title:  "two of five servers die, then a third; later all come back",
		Source: "A 2.5",
		Why: "With three of five servers down nobody may get the lock: the three are a majority, and do not know what the other two grant. " +
			"This lock took the two for all there is and granted it to B; when the three were back they granted it to C.",
		Gaps: notOwnServers("kills servers"),
		Script: w.Script{Cast: 3, Steps: []w.Step{
			w.ServersDie(3, 4),
			w.AcquireWithin("A", 2),
			w.Read("A"),
			w.Write("A"),
			w.Acquire("B"),
			w.Release("A"),
			w.ServersDie(2),
			w.AcquireWithin("B", 2),
			w.Read("B"),
			w.ServersComeBack(2, 3, 4),
			w.AcquireWithin("C", 2),
			w.Read("C"),
			w.Write("C"),
			w.Write("B"),
			w.Release("B"),
			w.Release("C"),
		}},
		TTL: virtualTTL, RealTTL: unhurriedly,
		Cases: []Case{
			{Lock: "redlock-answers-only", Want: lost},
			{
				Lock: "redlock",
				Note: "With two of five servers down A got the lock, with three down nobody did, and when they were back C got it.",
			},
			{
				Lock: "redsync-context-timeout",
				Note: "With two of five servers down A got the lock, with three down nobody did, and when they were back C got it.",
			},
		},
	}
}
