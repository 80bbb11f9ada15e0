package scenarios

import (
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/locks"
	w "github.com/lockbench/lockbench/workloads"
)

func reentrantShrunkLease() Scenario {
	return Scenario{
		ID:     "P32",
		Name:   "reentrant-shrunk-lease",
		Title:  "a re-entry asks for a shorter lease than the holder has",
		Source: "C, redisson#1110",
		Why: "A re-entry sets the TTL that it asks for, and there is one TTL for all of them. A's inner section needed the lock for a " +
			"moment and said so; the lock was then gone after that moment, under A's outer section.",
		Faultless: true,
		Asks:      locks.NeverShortens,
		Script: w.Script{Cast: 2, Reenters: true, Steps: []w.Step{
			w.AcquireReentrant("A"),
			w.Read("A"),
			w.ReenterBriefly("A", 0.1),
			w.AskCount("A"),
			w.Release("A"),
			w.SectionLasts("A", 1, 0.15),
			w.AcquireReentrant("B"),
			w.Read("B"),
			w.Write("B"),
			w.Write("A"),
			w.Release("A"),
			w.Release("B"),
		}},
		TTL: virtualTTL, RealTTL: unhurriedly,
		Cases: []Case{
			{Lock: "reentrant-hash", Want: checker.Expectation{
				checker.StrictExclusion: checker.Fail,
				checker.LeaseExclusion:  checker.Fail,
				checker.LeaseHonoured:   checker.Fail,
				checker.ResourceSafety:  checker.Fail,
			}},
			{Lock: "reentrant-hash-keep", Note: "It keeps the longer of the lease that is left and the one that is asked for."},
			{Lock: "redisson-style"},
		},
	}
}
