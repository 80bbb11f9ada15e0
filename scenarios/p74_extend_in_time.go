package scenarios

import (
	"github.com/lockbench/lockbench/checker"
	w "github.com/lockbench/lockbench/workloads"
)

func extendInTime() Scenario {
	return Scenario{
		ID:     "P74",
		Name:   "extend-in-time",
		Title:  "a holder extends its lease in time, and works for longer than the first lease",
		Source: "Redis EXPIRE, PEXPIRE",
		Why: "Extend tells PEXPIRE, which counts in milliseconds, a number of seconds. A extended its lease when half of it was left, and was told that it has the lock for a " +
			"whole TTL more; the key ended a few milliseconds later.",
		Script: w.Script{Cast: 2, Extends: true, Steps: []w.Step{
			w.Acquire("A"),
			w.Read("A"),
			w.Work("A", 0.5),
			w.Extend("A", 1),
			w.Acquire("B"),
			w.Work("A", 0.75),
			w.Acquire("B"),
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
		Faultless: true,
		TTL:       virtualTTL, RealTTL: majorityWaitedFor,
		Cases: []Case{
			{Lock: "extend-seconds", Want: checker.Expectation{
				checker.StrictExclusion: checker.Fail,
				checker.LeaseExclusion:  checker.Fail,
				checker.LeaseHonoured:   checker.Fail,
				checker.ResourceSafety:  checker.Fail,
			}},
			{Lock: "setnx-px-lua", Note: "The lease that A was told of is the one that the server keeps: B was refused until A had released."},
			{Lock: "extend-adds"},
			{Lock: "extend-adds-once"},
			{Lock: "setnx-px-watch"},
			{Lock: "set-options"},
			{Lock: "lua-uuid"},
			{Lock: "bsm-redislock"},
			{Lock: "fenced"},
			{Lock: "reentrant-hash"},
			{Lock: "rw-hash"},
			{Lock: "redlock"},
			{Lock: "redsync-context-timeout"},
		},
	}
}
