package scenarios

import (
	"maps"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/resource"
	w "github.com/lockbench/lockbench/workloads"
)

func splitBrain() Scenario {
	lost := checker.Expectation{
		checker.StrictExclusion: checker.Fail,
		checker.LeaseExclusion:  checker.Fail,
		checker.LeaseHonoured:   checker.Fail,
		checker.ResourceSafety:  checker.Fail,
	}
	saved := maps.Clone(lost)
	delete(saved, checker.ResourceSafety)
	forgetful := maps.Clone(lost) // each master counts tokens on its own
	forgetful[checker.Fencing] = checker.Fail
	steps := func(before, after []w.Step) w.Script {
		all := append([]w.Step{w.ReplicaInSync()}, before...)
		all = append(all, w.BrainSplits("A"))
		all = append(all, after...)
		return w.Script{Cast: 3, Steps: append(
			all,
			w.Acquire("A"),
			w.Read("A"),
			w.AcquireWithin("B", 2),
			w.Read("B"),
			w.AcquireWithin("C", 2),
			w.Write("A"),
			w.Write("B"),
			w.Release("A"),
			w.Release("B"),
		)}
	}
	return Scenario{
		ID:     "P18",
		Name:   "split-brain",
		Title:  "a master that was cut off goes on granting locks beside its successor",
		Source: "R",
		Why: "The network fell apart. On one side the old master went on serving A; on the other its replica was promoted and served B. " +
			"Each granted the same lock, and once the network was mended the old master threw its half away.",
		Replicas: 1,
		Script:   steps(nil, nil),
		TTL:      virtualTTL, RealTTL: unhurriedly,
		Cases: []Case{
			{Lock: "setnx-px-lua", Want: lost},
			{
				Lock: "redlock",
				Note: "One master of five fell apart: A had the other four, so B got no majority.",
			},
			{
				Lock: "setnx-px-lua", Guard: resource.Epoch, Want: saved,
				Note: "Two held the lock. What the epoch saves is the resource: it had let B's section begin and refused A's write.",
			},
			{Lock: "fenced", Want: forgetful},
			{
				Lock: "setnx-px-lua", Remedy: "min-replicas",
				Note: "Without a replica the old master refused A's SET, so that B alone got the lock. That bounds the harm: what the old " +
					"master had granted before it noticed the loss of its replica (min-replicas-max-lag) it would still have granted.",
			},
		},
		Remedies: []Remedy{{
			Name:   "min-replicas",
			Title:  "a master that was cut off takes no writes without a replica (min-replicas-to-write 1)",
			Script: steps([]w.Step{w.MasterNeedsReplica()}, []w.Step{w.OldMasterRefusesWrites()}),
			Gaps:   map[string]string{"embedded": "its servers do not know min-replicas-to-write"},
		}},
	}
}
