package scenarios

import (
	w "github.com/lockbench/lockbench/workloads"
)

func redlockRestart() Scenario {
	steps := func(restart ...w.Step) w.Script {
		all := append([]w.Step{w.CutOffFrom("A", 3, 4), w.Acquire("A"), w.Read("A")}, restart...)
		return w.Script{Cast: 2, Steps: append(
			all,
			w.Reconnect("A"),
			w.AcquireWithin("B", 2),
			w.Read("B"),
			w.Write("B"),
			w.Write("A"),
			w.Release("A"),
			w.Release("B"),
		)}
	}
	return Scenario{
		ID:     "P21",
		Name:   "redlock-restart",
		Title:  "one of A's three servers dies, and comes back without A's key",
		Source: "A 2.5, R, redsync#186",
		Why: "A held n1, n2 and n3, a majority. n3 died and came back empty, so that it was free for B: with n4 and n5 that is a majority " +
			"too. A server that forgets must stay away until all that it may have granted is over, or keep it on its disk.",
		Gaps:   notOwnServers("kills a server"),
		Script: steps(w.ServerRestarts(2)),
		TTL:    virtualTTL, RealTTL: unhurriedly,
		Cases: append(
			minorityForgets(),
			Case{
				Lock: "redlock", Remedy: "aof-always",
				Note: "n3 came back with A's key, and B got no majority.",
			},
			Case{
				Lock: "redlock", Remedy: "restart-delayed",
				Note: "While n3 was away B got no majority, and when it was back A's lease was over.",
			},
		),
		Remedies: []Remedy{
			{
				Name:   "aof-always",
				Title:  "one of A's three servers dies, and comes back with A's key from its file (appendfsync always)",
				Script: steps(w.ServerRestartsWithAOF(2)),
			},
			{
				Name:  "restart-delayed",
				Title: "one of A's three servers dies, and comes back without A's key but a TTL later",
				Script: w.Script{Cast: 2, Steps: []w.Step{
					w.CutOffFrom("A", 3, 4),
					w.Acquire("A"),
					w.Read("A"),
					w.ServerDiesForTTL(2),
					w.Reconnect("A"),
					w.AcquireWithin("B", 2),
					w.Read("B"),
					w.Write("B"),
					w.Write("A"),
					w.Release("A"),
					w.ServerComesBackAfterTTL(2),
					w.AcquireWithin("B", 2),
					w.Read("B"),
					w.Write("B"),
					w.Release("B"),
				}},
			},
		},
	}
}
