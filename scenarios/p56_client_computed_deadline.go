package scenarios

import (
	w "github.com/lockbench/lockbench/workloads"
)

func clientComputedDeadline() Scenario {
	lost, _, _ := forgotten()
	return Scenario{
		ID:     "P56",
		Name:   "client-computed-deadline",
		Title:  "the server's clock is ahead of the clients', who tell it when the lease ends",
		Source: "seen against rueidislock v1.0.79",
		Why: "The client computes the end of the lease by its own clock and sends it as PXAT. By the clock of the server that instant had " +
			"passed already: it answered OK and kept nothing. Everybody got the lock.",
		Clocks: true,
		Gaps:   notOwnServers("sets the clock of a server"),
		// The library gives an acquire 20 ms.
		Script: w.Script{Cast: 2, Steps: []w.Step{
			w.ServerClockAhead(0, 2),
			w.AcquireInTries("A", 5),
			w.Read("A"),
			w.AcquireInTries("B", 5),
			w.Read("B"),
			w.Write("B"),
			w.Write("A"),
			w.Release("A"),
			w.Release("B"),
		}},
		TTL: virtualTTL, RealTTL: unhurriedly,
		Cases: []Case{
			{Lock: "rueidislock", Want: lost},
			{Lock: "rueidislock-px", Note: "A TTL that is relative (PX) asks nothing of the clients' clocks, until the first renewal."},
			{Lock: "setnx-px-lua", Note: "A TTL that is relative (PX) asks nothing of the clients' clocks."},
		},
	}
}
