package workloads

import (
	"context"
	"errors"
	"fmt"

	"github.com/lockbench/lockbench/nemesis"
)

// ErrNoClocks says that the clocks of a deployment's servers cannot be set, and that moving
// their keys' expiries instead would not show what the script is about.
var ErrNoClocks = errors.New("the clocks of these servers cannot be set")

// ServerClockAhead sets the clock of a shard's server ahead by a number of TTLs, with TIME and
// what it makes of PXAT. It stays so until the end. Unlike ServerClockJumps it never
// simulates: where clocks cannot be set it is ErrNoClocks.
func ServerClockAhead(shard int, ttls float64) Step {
	return Step{fmt.Sprintf("the clock of shard %d's server is ahead by %v TTLs", shard, ttls), func(ctx context.Context, s *Stage) error {
		c, err := capability[nemesis.Clocked](s, "set the clock of a server")
		if err != nil {
			return err
		}
		if _, err := c.Clocks(); err != nil {
			return fmt.Errorf("%w: %w", ErrNoClocks, err)
		}
		return s.Nemesis.Start(ctx, nemesis.ClockJump(c, s.Cluster.Primary(shard), s.Clock.Now, s.ttls(ttls)))
	}}
}
