package scenarios

import (
	"github.com/lockbench/lockbench/checker"
	w "github.com/lockbench/lockbench/workloads"
)

func failOpen() Scenario {
	return Scenario{
		ID:     "P85",
		Name:   "fail-open",
		Title:  "a client that cannot reach Redis asks for the lock",
		Source: "mutant (C)",
		Why: "An error of the network is taken for a grant, so that the work goes on without Redis. A held the lock well within its lease; B could not reach the server, and was told " +
			"that it has it, too.",
		Script: w.Script{Cast: 2, Steps: []w.Step{
			w.Acquire("A"),
			w.Read("A"),
			w.Acquire("B"),
			w.CutOffFrom("B"),
			w.Acquire("B"),
			w.Read("B"),
			w.Write("B"),
			w.Reconnect("B"),
			w.Write("A"),
			w.Release("B"),
			w.Release("A"),
			w.AcquireEventually("B"),
			w.Read("B"),
			w.Write("B"),
			w.Release("B"),
		}},
		TTL: virtualTTL, RealTTL: unhurriedly,
		Cases: []Case{
			{Lock: "fail-open", Want: checker.Expectation{
				checker.StrictExclusion: checker.Fail,
				checker.LeaseExclusion:  checker.Fail,
				checker.LeaseHonoured:   checker.Fail,
				checker.ResourceSafety:  checker.Fail,
			}},
			{Lock: "setnx-px-lua", Note: "The error says that nobody knows. B took it for a refusal, and did not work."},
			{Lock: "setnx-px-watch"},
			{Lock: "bsm-redislock"},
			{Lock: "redlock"},
			{Lock: "fenced"},
			{Lock: "fair-queue"},
		},
	}
}
