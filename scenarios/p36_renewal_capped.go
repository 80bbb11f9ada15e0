package scenarios

import (
	"github.com/lockbench/lockbench/checker"
	w "github.com/lockbench/lockbench/workloads"
)

func renewalCapped() Scenario {
	lost := checker.Expectation{
		checker.StrictExclusion: checker.Fail,
		checker.ResourceSafety:  checker.Fail,
	}
	return Scenario{
		ID:     "P36",
		Name:   "renewal-capped",
		Title:  "a section takes longer than all renewals together",
		Source: "D",
		Why: "The lease is renewed four times, and then no more, whether its holder is done or not. Nobody tells the holder: A worked on " +
			"when its lease had ended, and B got the lock.",
		Script: w.Script{Cast: 2, Steps: []w.Step{
			w.FarFromServers("A"),
			w.Acquire("A"),
			w.Read("A"),
			w.SectionLasts("A", 1, 3),
			w.Acquire("B"),
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
			{Lock: "watchdog", Note: "It has a bound, too, of ten TTLs; but it tells the holder before the lease ends (P39)."},
		},
	}
}
