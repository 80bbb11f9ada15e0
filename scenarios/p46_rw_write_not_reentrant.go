package scenarios

import (
	"github.com/lockbench/lockbench/checker"
	w "github.com/lockbench/lockbench/workloads"
)

func rwWriteNotReentrant() Scenario {
	const refused = "The writer is not re-entrant, and says so: A's second acquire was refused, and A's one hold was as good as before."
	return Scenario{
		ID:     "P46",
		Name:   "rw-write-not-reentrant",
		Title:  "the writer acquires the lock that it holds",
		Source: "E table",
		Why: "A lock that lets its holder in again must count. This one knows its holders by the name of the client, and found A inside: it " +
			"let A in again, kept one entry for both, and A's inner release removed it. A reader came in while A went on writing.",
		Faultless: true,
		Script: w.Script{Cast: 2, Steps: []w.Step{
			w.Acquire("A"),
			w.Acquire("A"),
			w.Read("A"),
			w.Write("A"),
			w.AcquireRead("B"),
			w.Release("A"),
			w.AcquireRead("B"),
			w.Read("B"),
			w.Read("A"), // in the outer section, if there is one
			w.Write("A"),
			w.Read("B"),
			w.Release("A"),
			w.Release("B"),
		}},
		TTL: virtualTTL, RealTTL: unhurriedly,
		Cases: []Case{
			{Lock: "rw-hash-client-id", Want: checker.Expectation{
				checker.StrictExclusion: checker.Fail,
				checker.LeaseExclusion:  checker.Fail,
				checker.LeaseHonoured:   checker.Fail,
				checker.ResourceSafety:  checker.Fail,
			}},
			{Lock: "rw-hash", Note: refused},
			{Lock: "rw-two-key", Note: refused},
			{Lock: "rw-hash-timestamp", Note: refused},
		},
	}
}
