package scenarios

import (
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/locks"
	w "github.com/lockbench/lockbench/workloads"
)

func releaseResent() Scenario {
	return Scenario{
		ID:     "P82",
		Name:   "release-resent",
		Title:  "the reply to an inner release gets lost, and the command is sent again",
		Source: "redisson#7367 (with P33)",
		Asks:   locks.CountsOnce,
		Why: "A release takes one off the count, and once more if it is sent once more. A had acquired twice and gave one of the two back; the count went to 0, the lock was " +
			"free, and B got in while A was in its outer section.",
		Script: w.Script{Cast: 2, Reenters: true, Steps: []w.Step{
			w.AcquireReentrant("A"),
			w.Read("A"),
			w.Reenter("A"),
			w.AskCount("A"),
			w.ReleaseResent("A"),
			w.AskCount("A"),
			w.AcquireReentrant("B"),
			w.Read("B"),
			w.Write("B"),
			w.Write("A"),
			w.Release("A"),
			w.Release("B"),
			w.AcquireEventually("B"),
			w.Read("B"),
			w.Write("B"),
			w.Release("B"),
		}},
		TTL: virtualTTL, RealTTL: unhurriedly,
		Cases: []Case{
			{Lock: "reentrant-hash", Want: checker.Expectation{
				checker.StrictExclusion: checker.Fail,
				checker.LeaseExclusion:  checker.Fail,
				checker.LeaseHonoured:   checker.Fail,
				checker.ResourceSafety:  checker.Fail,
				checker.Reentrancy:      checker.Fail,
			}},
			{Lock: "reentrant-hash-once", Note: "A release names the acquire that it gives back: sent again, it finds that this one has been given back."},
		},
	}
}
