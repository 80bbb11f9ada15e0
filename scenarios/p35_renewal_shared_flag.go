package scenarios

import (
	"github.com/lockbench/lockbench/checker"
	w "github.com/lockbench/lockbench/workloads"
)

func renewalSharedFlag() Scenario {
	lost := checker.Expectation{
		checker.StrictExclusion: checker.Fail,
		checker.ResourceSafety:  checker.Fail,
	}
	return Scenario{
		ID:     "P35",
		Name:   "renewal-shared-flag",
		Title:  "one flag stops the renewal of all keys",
		Source: "D",
		Why: "Whether to renew is one flag of the lock object, and release clears it, whatever the key. A released key 2; the renewal of " +
			"key 1 found the flag cleared and ended, so that A's lease on key 1 ran out under its section.",
		Keys: 2,
		Script: w.Script{Cast: 2, Steps: []w.Step{
			w.FarFromServers("A"),
			w.AcquireKey("A", 1),
			w.Read("A"),
			w.AcquireKey("A", 2),
			w.Release("A"), // of key 2
			w.SectionLasts("A", 1, 1.5),
			w.AcquireKey("B", 1),
			w.Read("B"),
			w.Write("B"),
			w.Write("A"),
			w.Release("A"),
			w.Release("B"),
		}},
		TTL: virtualTTL, RealTTL: waitedFor,
		Cases: []Case{
			// D with P34 repaired, which would hide this one: see renew-naive below.
			{Lock: "renew-naive-early", Want: lost},
			{Lock: "renew-naive", Want: lost, Note: "D's own lock loses the lease here, too, but a whole TTL between renewals (P34) is reason enough."},
			{Lock: "watchdog"},
		},
	}
}
