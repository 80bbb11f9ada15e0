package nemesis

import (
	"math/rand/v2"
	"time"

	"github.com/lockbench/lockbench/histories"
)

// ClientClockRateF is a client whose clock runs too fast or too slow.
const ClientClockRateF histories.F = "client-clock-rate"

// clientClockRate makes the clock of one client run rate times as fast (P12), and its
// sleeps and time-outs with it: a watchdog on a slow clock renews late. Healing sets
// the clock right. now is the right time.
func clientClockRate(client string, c WallClock, now func() time.Time, rate float64) Fault {
	return runningClock(ClientClockRateF, client, c, now, rate)
}

func clientClockRateKind() Kind {
	return Kind{
		Name: "client-clock-rate", Title: "the clock of a client, and its timers, run half to twice as fast",
		F: ClientClockRateF, Client: true, Unsupported: anywhere,
		Hits: HitsClient, Amount: AtRate,
		Begins: "the clock of {client}, and its timers, run {times} times as fast as they should",
		Ends:   "the clock of {client} is set right",
		Make:   onClock(func(s Scene, c Victim, t Target) Fault { return clientClockRate(c.Name, c.Clock, s.Clock.Now, t.Rate) }),
		Pick: func(s Scene, r *rand.Rand) (Target, bool) {
			t, ok := pickClient(s, r)
			t.Rate = drawRate(r)
			return t, ok
		},
	}
}
