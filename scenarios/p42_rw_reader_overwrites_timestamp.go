package scenarios

import (
	"github.com/lockbench/lockbench/checker"
	w "github.com/lockbench/lockbench/workloads"
)

func rwReaderOverwritesTimestamp() Scenario {
	return Scenario{
		ID:     "P42",
		Name:   "rw-reader-overwrites-timestamp",
		Title:  "the last reader's timestamp takes the place of all others",
		Source: "E 2, redisson#2144",
		Why: "The hash has one field for all readers, which holds the time of the last one. B came after A and overwrote A's time; " +
			"when B released, the field was its own and went, and a writer came in while A was still reading.",
		Faultless: true,
		Script: w.Script{Cast: 3, Steps: []w.Step{
			w.AcquireRead("A"),
			w.Read("A"),
			w.AcquireRead("B"),
			w.Read("B"),
			w.Release("B"),
			w.Acquire("C"),
			w.Read("C"),
			w.Write("C"),
			w.Read("A"),
			w.Release("A"),
			w.Release("C"),
			w.Acquire("C"),
			w.Read("C"),
			w.Write("C"),
			w.Release("C"),
		}},
		TTL: virtualTTL, RealTTL: unhurriedly,
		Cases: []Case{
			{Lock: "rw-hash-timestamp", Want: checker.Expectation{
				checker.StrictExclusion: checker.Fail,
				checker.LeaseExclusion:  checker.Fail,
				checker.LeaseHonoured:   checker.Fail,
				checker.Ownership:       checker.Fail,
				checker.ResourceSafety:  checker.Fail,
			}},
			{Lock: "rw-hash"},
		},
	}
}
