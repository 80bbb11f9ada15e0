package scenarios

import (
	"github.com/lockbench/lockbench/checker"
	w "github.com/lockbench/lockbench/workloads"
)

func sharedConnectionWatch() Scenario {
	const strictly = "Every lease lets the next one in while B, whose lease has ended, has not released, so strictly two held the lock. "
	return Scenario{
		ID:     "P59",
		Name:   "shared-connection-watch",
		Title:  "one thread's UNWATCH ends the watch of another on the same connection",
		Source: "A 3.1",
		Why: "WATCH belongs to the connection, and threads A and B of one process share theirs. A watched the key and found its own token; B, " +
			"whose lease was long over, found A's, and sent UNWATCH. A's lease ended and C took the lock, but nothing watched the key any " +
			"more: A's EXEC deleted C's lock, and D got in.",
		Threads: 2,
		Script: w.Script{Cast: 4, Steps: []w.Step{
			w.Acquire("B"),
			w.LeaseEnds(),
			w.Acquire("A"),
			w.Read("A"),
			w.Write("A"),
			w.ReleasesInterleave("A", "B", "A"),
			w.LeaseEnds(),
			w.Acquire("C"),
			w.Read("C"),
			w.FirstAnswerArrives("A", "B", "A", "UNWATCH"),
			w.AnswersArrive("B", "A"),
			w.Acquire("D"),
			w.Read("D"),
			w.Write("D"),
			w.Write("C"),
			w.Release("C"),
			w.Release("D"),
		}},
		TTL: virtualTTL, RealTTL: waitedFor,
		Cases: []Case{
			{Lock: "setnx-px-watch-shared", Want: checker.Expectation{
				checker.StrictExclusion: checker.Fail,
				checker.LeaseExclusion:  checker.Fail,
				checker.LeaseHonoured:   checker.Fail,
				checker.Ownership:       checker.Unknown, // who sent what on a shared connection is not known
				checker.ResourceSafety:  checker.Fail,
			}},
			{
				Lock: "setnx-px-watch", Want: checker.Expectation{checker.StrictExclusion: checker.Fail},
				Note: strictly + "What a connection of its own keeps is A's watch: EXEC saw that the key had changed, and C's lock stayed.",
			},
		},
	}
}
