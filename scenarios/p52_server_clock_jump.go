package scenarios

import (
	"github.com/lockbench/lockbench/resource"
	w "github.com/lockbench/lockbench/workloads"
)

func serverClockJump() Scenario {
	lost, saved, _ := forgotten()
	return Scenario{
		ID:     "P52",
		Name:   "server-clock-jump",
		Title:  "the server's clock jumps past the lease while the lock is held",
		Source: "R (redis#416)",
		Why: "Redis notes for each key the wall-clock time at which it expires. Somebody set the server's clock forward, by hand or by " +
			"NTP, and A's lease was over at once on the server, though not for A.",
		Clocks: true,
		Gaps:   notOwnServers("sets the clock of a server"),
		Script: w.Script{Cast: 2, Steps: []w.Step{
			w.Acquire("A"),
			w.Read("A"),
			w.ServerClockJumps(0, 2),
			w.Acquire("B"),
			w.Read("B"),
			w.Write("B"),
			w.Write("A"),
			w.Release("A"),
			w.Release("B"),
		}},
		TTL: virtualTTL, RealTTL: unhurriedly,
		Cases: []Case{
			{Lock: "setnx-px-lua", Want: lost},
			{
				Lock: "fenced", Guard: resource.Fence, Want: saved,
				Note: "Two held the lock. What the fence saves is the resource: it had seen B's token and refused A's write with the lower one.",
			},
			{Lock: "setnx-px-lua", Guard: resource.Epoch, Want: saved, Note: epochSaved},
			{Lock: "redlock", Note: "The clock of one server of five jumped: A had the other four, so B got no majority."},
		},
	}
}
