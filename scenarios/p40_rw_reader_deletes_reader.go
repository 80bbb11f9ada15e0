package scenarios

import (
	"github.com/lockbench/lockbench/checker"
	w "github.com/lockbench/lockbench/workloads"
)

func rwReaderDeletesReader() Scenario {
	return Scenario{
		ID:     "P40",
		Name:   "rw-reader-deletes-reader",
		Title:  "one reader's release is the release of all readers",
		Source: "E 1",
		Why: "All readers share one key, and nobody counts them. A released, which deleted the key, while B was still reading: a writer " +
			"found no reader and came in beside B.",
		Faultless: true,
		Script: w.Script{Cast: 3, Steps: []w.Step{
			w.AcquireRead("A"),
			w.Read("A"),
			w.AcquireRead("B"),
			w.Read("B"),
			w.Acquire("C"),
			w.Release("A"),
			w.Acquire("C"),
			w.Read("C"),
			w.Write("C"),
			w.Read("B"),
			w.Release("B"),
			w.Release("C"),
			w.Acquire("C"),
			w.Read("C"),
			w.Write("C"),
			w.Release("C"),
		}},
		TTL: virtualTTL, RealTTL: unhurriedly,
		Cases: []Case{
			{Lock: "rw-two-key", Want: checker.Expectation{
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
