package nemesis

import (
	"math/rand/v2"
	"time"

	"github.com/lockbench/lockbench/histories"
)

// ClientClockF is a client whose clock jumps.
const ClientClockF histories.F = "client-clock"

// clientClockJump sets the clock of one client wrong (P06, P12, P44): what the client
// writes as its time, and when it thinks that its lease ends, move. Its sleeps and time-outs
// do not, as those of a machine count on whatever its wall clock shows. A library that
// reads the machine's clock past locks.Clock is not hit. now is the right time.
func clientClockJump(client string, c WallClock, now func() time.Time, by time.Duration) Fault {
	return jumpingClock(ClientClockF, client, c, now, by)
}

func clientClockKind() Kind {
	return Kind{
		Name: "client-clock", Title: "the clock of a client jumps by up to two TTLs, forward or back",
		F: ClientClockF, Client: true, Unsupported: anywhere,
		Hits: HitsClient, Amount: ByTime,
		Begins: "the clock of {client} jumps by {by}",
		Ends:   "the clock of {client} is set right",
		Make:   onClock(func(s Scene, c Victim, t Target) Fault { return clientClockJump(c.Name, c.Clock, s.Clock.Now, t.By) }),
		Pick: func(s Scene, r *rand.Rand) (Target, bool) {
			t, ok := pickClient(s, r)
			t.By = s.drawJump(r)
			return t, ok
		},
	}
}
