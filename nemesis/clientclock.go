package nemesis

import (
	"math/rand/v2"
	"time"

	"github.com/lockbench/lockbench/histories"
)

// ClientClockF is a client whose clock jumps.
const ClientClockF histories.F = "client-clock"

// ClientClockJump sets the clock of one client wrong (P06, P12, P44): what the client
// writes as its time, and when it thinks that its lease ends, move. Its sleeps and time-outs
// do not, as those of a machine count on whatever its wall clock shows. A library that
// reads the machine's clock past locks.Clock is not hit. now is the right time.
func ClientClockJump(client string, c WallClock, now func() time.Time, by time.Duration) Fault {
	return jumpingClock(ClientClockF, client, c, now, by)
}

func clientClockKind() Kind {
	return Kind{
		Name: "client-clock", Title: "the clock of a client jumps by up to two TTLs, forward or back",
		F: ClientClockF, Client: true, Needs: anywhere,
		Draw: func(s Scene, r *rand.Rand) (Fault, bool) {
			c, by := s.client(r), s.drawJump(r)
			return ClientClockJump(c.Name, c.Clock, s.Clock.Now, by), c.Clock != nil
		},
	}
}
