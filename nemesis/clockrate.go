package nemesis

import (
	"math/rand/v2"
	"time"

	"github.com/lockbench/lockbench/cluster"
	"github.com/lockbench/lockbench/histories"
)

// ClockRateF is a server whose clock runs too fast or too slow.
const ClockRateF histories.F = "clock-rate"

// ClockRate makes the clock of one server run rate times as fast, so that a lease lasts
// 1/rate of what it should. Healing sets the clock right. now is the right time.
func ClockRate(c Clocked, node string, now func() time.Time, rate float64) Fault {
	return untilItDies(c, node, runningClock(ClockRateF, node, serverClock{c, node}, now, rate))
}

func clockRateKind() Kind {
	return Kind{
		Name: "clock-rate", Title: "the clock of a server of the lock runs half to twice as fast", F: ClockRateF, Clocks: true,
		Needs: func(c cluster.Cluster) error {
			_, _, err := clocked(c)
			return err
		},
		Means: func(c cluster.Cluster) string {
			_, how, _ := clocked(c)
			return how
		},
		Draw: func(s Scene, r *rand.Rand) (Fault, bool) {
			node, alive := s.server(r)
			rate := drawRate(r)
			c, _, err := clocked(s.Cluster)
			if err != nil {
				return Fault{}, false
			}
			return ClockRate(c, node, s.Clock.Now, rate), alive
		},
	}
}
