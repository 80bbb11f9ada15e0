package scenarios

import (
	"time"

	"github.com/lockbench/lockbench/checker"
	w "github.com/lockbench/lockbench/workloads"
)

func poolStarvedRelease() Scenario {
	return Scenario{
		ID:     "P60",
		Name:   "pool-starved-release",
		Title:  "waiters have all connections of the pool, and the holder gets none to release with",
		Source: "A 3.1, 3.2",
		Why: "Acquire takes a connection from the process's pool and keeps it while it spins. Threads B and C had both connections of the pool " +
			"and waited for A, which was done and waited for a connection to release with: the lock stayed taken until A's lease ended.",
		Threads:   3,
		Faultless: true,
		Script: w.Script{Cast: 3, Steps: []w.Step{
			w.Acquire("A"),
			w.Read("A"),
			w.AwaitUntilPoolEmpty("A", "B", "C"),
			w.Write("A"),
			w.Release("A"),
			w.TurnsEnd("B", "C"),
		}},
		TTL: 500 * time.Millisecond, RealTTL: waitedFor,
		Cases: []Case{
			{Lock: "setnx-px-spin", Want: checker.Expectation{checker.Availability: checker.Fail}},
			{Lock: "setnx-px-spin-per-command"},
			{Lock: "redisson-style"},
		},
	}
}
