package scenarios

import (
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/locks"
	w "github.com/lockbench/lockbench/workloads"
)

func hungHolder() Scenario {
	stuck := checker.Expectation{checker.DeadlockFreedom: checker.Fail, checker.Availability: checker.Fail}
	return Scenario{
		ID:     "P39",
		Name:   "hung-holder",
		Title:  "the holder hangs, and its process lives on to renew the lock",
		Source: "D",
		Why: "A hangs in its section and will never release. Its process lives, and so does the thread that renews: the lease, which is " +
			"there so that no client can take the lock with it, never ends. A longer lease or none at all would do the same.",
		Faultless: true,
		Asks:      locks.BoundedHold,
		Script: w.Script{Cast: 2, Steps: []w.Step{
			w.Acquire("A"),
			w.Read("A"),
			w.Acquire("B"),
			w.SectionLasts("A", 1, 9),
			w.Write("A"),
			w.Hang("A"),
			w.AcquireEventually("B"),
			w.Read("B"),
			w.Write("B"),
			w.Release("B"),
		}},
		TTL: virtualTTL, RealTTL: waitedFor,
		Cases: []Case{
			{Lock: "watchdog-uncapped", Want: stuck},
			{Lock: "redisson-style", Want: stuck, Note: "As Redisson it has no bound on how long a lock is held."},
			{
				Lock: "watchdog",
				Note: "One lease is renewed for ten TTLs at most, so a hang lasts for what is left of them: here one TTL, as A had worked for nine. " +
					"That is the paradox: a bound that ends a hang soon ends a long section, too.",
			},
		},
	}
}
