package scenarios

import (
	"github.com/lockbench/lockbench/checker"
	w "github.com/lockbench/lockbench/workloads"
)

func extendByNothing() Scenario {
	return Scenario{
		ID:     "P71",
		Name:   "extend-by-nothing",
		Title:  "a holder extends its lease by 0, and by less",
		Source: "redis-py, Redis EXPIRE",
		Why: "Extend sends the TTL that it is given, and an expiry that has passed deletes the key. A asked for what was left of a budget, and that was nothing: the lock " +
			"was gone, A was told that it had been extended, and B got in at once.",
		Script: w.Script{Cast: 2, Extends: true, Steps: []w.Step{
			w.Acquire("A"),
			w.Read("A"),
			w.ExtendByNothing("A", 0),
			w.Acquire("B"),
			w.Read("B"),
			w.Write("B"),
			w.Release("B"),
			w.ExtendByNothing("A", -1),
			w.Acquire("B"),
			w.Read("B"),
			w.Write("B"),
			w.Release("B"),
			w.Write("A"),
			w.Release("A"),
			w.AcquireEventually("B"),
			w.Read("B"),
			w.Write("B"),
			w.Release("B"),
		}},
		Faultless: true,
		TTL:       virtualTTL, RealTTL: unhurriedly,
		Cases: []Case{
			{Lock: "extend-nothing", Want: checker.Expectation{
				checker.StrictExclusion: checker.Fail,
				checker.LeaseHonoured:   checker.Fail,
				checker.ResourceSafety:  checker.Fail,
				// Not so lease exclusion: A was told, if it looks, that its lease has ended.
			}},
			{Lock: "setnx-px-lua", Note: "A TTL of nothing was refused before anything was sent, and the key stayed as it was: B was refused both times."},
			{Lock: "extend-adds"},
			{Lock: "bsm-redislock"},
			{Lock: "reentrant-hash"},
			{Lock: "rw-hash"},
			{Lock: "redlock"},
			{Lock: "redsync-context-timeout"},
		},
	}
}
