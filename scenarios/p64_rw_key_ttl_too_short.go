package scenarios

import (
	"github.com/lockbench/lockbench/checker"
	w "github.com/lockbench/lockbench/workloads"
)

func rwKeyTTLTooShort() Scenario {
	return Scenario{
		ID:     "P64",
		Name:   "rw-key-ttl-too-short",
		Title:  "a reader that comes for a short time shortens the hold of all",
		Source: "E 2",
		Why: "The holds of all have one key, and each acquire sets its TTL anew. B came to read for a shorter time than A, and never " +
			"released; when its time was over the key expired, with A's hold in it, and a writer came in while A was still reading.",
		Script: w.Script{Cast: 3, Steps: []w.Step{
			w.AcquireRead("A"),
			w.Read("A"),
			w.AcquireReadFor("B", 0.5),
			w.Read("B"),
			w.OwnLeaseEnds("B"),
			w.Crash("B"),
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
		TTL: virtualTTL, RealTTL: 2 * waitedFor,
		Cases: []Case{
			{Lock: "rw-hash-timestamp", Want: checker.Expectation{
				checker.StrictExclusion: checker.Fail,
				checker.LeaseExclusion:  checker.Fail,
				checker.LeaseHonoured:   checker.Fail,
				checker.ResourceSafety:  checker.Fail,
			}},
			{Lock: "rw-hash"},
		},
	}
}
