package scenarios

import (
	w "github.com/lockbench/lockbench/workloads"
)

func wrongtypeCollision() Scenario {
	const taken = "B was told that the lock was taken, for SET NX asks only whether there is a key. A's release could not compare what it " +
		"found, and said so: WRONGTYPE."
	return Scenario{
		ID:     "P53",
		Name:   "wrongtype-collision",
		Title:  "somebody else puts a value of another type under the lock's key",
		Source: "C with A",
		Why: "Two programs chose the same key, one for a lock in a string or a hash and one for something else. As long as the value of the " +
			"wrong type is there nobody can have the lock; what the lock owes its users is that nobody gets in by mistake and that " +
			"the error is clear.",
		Gaps:  notOwnServers("writes to a server past the clients"),
		Holds: true,
		Script: w.Script{Cast: 2, Steps: []w.Step{
			w.Acquire("A"),
			w.Read("A"),
			w.KeySquatted(0),
			w.Acquire("B"),
			w.Read("B"),
			w.Write("B"),
			w.Write("A"),
			w.Release("A"),
			w.SquatterLeaves(0),
			w.AcquireUntilFree("B"),
			w.Acquire("A"),
			w.Read("B"),
			w.Write("B"),
			w.Release("B"),
		}},
		TTL: virtualTTL, RealTTL: unhurriedly,
		Cases: []Case{
			{
				Lock: "reentrant-hash",
				Note: "B's acquire and A's release failed with WRONGTYPE, and nobody got in.",
			},
			{Lock: "setnx-px-lua", Note: taken},
			{Lock: "setnx-px-watch", Note: taken},
			{Lock: "fenced", Note: "B's acquire and A's release failed with WRONGTYPE, and nobody got in."},
			{Lock: "redlock", Note: "One server of five had a list under the key: to Redlock that is one vote less."},
		},
	}
}
