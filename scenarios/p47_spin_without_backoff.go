package scenarios

import (
	"time"

	"github.com/lockbench/lockbench/checker"
	w "github.com/lockbench/lockbench/workloads"
)

func spinWithoutBackoff() Scenario {
	return Scenario{
		ID:     "P47",
		Name:   "spin-without-backoff",
		Title:  "three clients wait for the lock by asking for it without a pause",
		Source: "A 3.2, B",
		Why: "Each waiter sends its next SET as soon as the last one was answered: as many commands as a connection carries, all of them " +
			"in vain, and Redis has one thread for them and for everybody else. An interval between two tries, or a message when the lock " +
			"is released, costs a few commands in a second.",
		Faultless: true,
		Script: w.Script{Cast: 4, Waits: true, Steps: []w.Step{
			w.Acquire("A"),
			w.Read("A"),
			w.Await("B"),
			w.Await("C"),
			w.Await("D"),
			w.Work("A", 0.1),
			w.Write("A"),
			w.Release("A"),
			w.TurnsEnd("B", "C", "D"),
		}},
		TTL: virtualTTL, RealTTL: 3 * time.Second,
		Cases: []Case{
			{Lock: "setnx-px-spin", Want: checker.Expectation{checker.Load: checker.Fail}},
			{Lock: "lua-uuid", Note: "It tries every tenth of a second."},
			{Lock: "redisson-style", Note: "Waiters subscribe, and sleep until they are told of a release or the lease ends."},
		},
	}
}
