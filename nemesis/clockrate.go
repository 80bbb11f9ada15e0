package nemesis

import (
	"fmt"
	"math/rand/v2"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/redis/cluster"
)

// ClockRateF is a server whose clock runs too fast or too slow.
const ClockRateF histories.F = "clock-rate"

// clockRate makes the clock of one server run rate times as fast, so that a lease lasts
// 1/rate of what it should. Healing sets the clock right. It is over when no key can live
// longer than it was given.
func clockRate(c clocked, node string, clock Clock, rate float64) Fault {
	s := &serverClock{c: c, node: node, clock: clock}
	return s.outlived(runningClock(ClockRateF, node, s, clock.Now, rate))
}

func clockRateKind() Kind {
	return Kind{
		Name: "clock-rate", Title: "the clock of a server of the lock runs half to twice as fast", F: ClockRateF, Clocks: true,
		Unsupported: func(c cluster.Cluster) error {
			_, _, err := asClocked(c)
			return err
		},
		Means: func(c cluster.Cluster) string {
			_, how, _ := asClocked(c)
			return how
		},
		Hits: HitsServer, Amount: AtRate,
		Begins: "the clock of {server} runs {times} times as fast as it should",
		Ends:   "the clock of {server} is set right",
		Make: func(s Scene, t Target) (Fault, error) {
			node, err := t.node()
			if err != nil {
				return Fault{}, err
			}
			c, _, err := asClocked(s.Cluster)
			if err != nil {
				return Fault{}, fmt.Errorf("%w: %w", ErrNoClocks, err)
			}
			return clockRate(c, node, s.Clock, t.Rate), nil
		},
		Pick: func(s Scene, r *rand.Rand) (Target, bool) {
			t, alive := pickServer(s, r)
			t.Rate = drawRate(r)
			return t, alive
		},
	}
}
