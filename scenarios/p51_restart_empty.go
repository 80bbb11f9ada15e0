package scenarios

import (
	"github.com/lockbench/lockbench/resource"
	w "github.com/lockbench/lockbench/workloads"
)

func restartEmpty() Scenario {
	lost, saved, forgetful := forgotten()
	steps := func(restart w.Step) w.Script {
		return w.Script{Cast: 2, Steps: []w.Step{
			w.Acquire("A"),
			w.Read("A"),
			restart,
			w.AcquireWithin("B", 2),
			w.Read("B"),
			w.Write("B"),
			w.Write("A"),
			w.Release("A"),
			w.Release("B"),
		}}
	}
	return Scenario{
		ID:     "P51",
		Name:   "restart-empty",
		Title:  "the server dies and comes back empty while the lock is held",
		Source: "R",
		Why: "The server kept nothing on its disk. It was killed and started again within A's lease, and had never heard of A when B " +
			"asked.",
		Gaps:   notOwnServers("kills a server"),
		Script: steps(w.ServerRestarts(0)),
		TTL:    virtualTTL, RealTTL: unhurriedly,
		Cases: []Case{
			{Lock: "setnx-px-lua", Want: lost},
			{Lock: "redlock", Note: "One server of five came back empty: A had the other four, so B got no majority."},
			{Lock: "reentrant-hash", Want: lost},
			{Lock: "fenced", Want: forgetful},
			{Lock: "setnx-px-lua", Guard: resource.Epoch, Want: saved, Note: epochSaved},
			{
				Lock: "setnx-px-lua", Remedy: "aof-always",
				Note: "The server came back with A's key, and B was refused.",
			},
		},
		Remedies: []Remedy{{
			Name:   "aof-always",
			Title:  "the server dies and comes back with the lock from its file (appendfsync always)",
			Script: steps(w.ServerRestartsWithAOF(0)),
		}},
	}
}
