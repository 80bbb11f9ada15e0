package workloads

import (
	"context"
	"fmt"
	"time"

	"github.com/lockbench/lockbench/cluster"
	"github.com/lockbench/lockbench/nemesis"
)

// ClientClockJumps sets a client's clock wrong by a number of TTLs, forward or back. It
// stays so until the end.
func ClientClockJumps(name string, ttls float64) Step {
	return Step{fmt.Sprintf("the clock of %s jumps by %v TTLs", name, ttls), func(ctx context.Context, s *Stage) error {
		c, err := s.client(name)
		if err != nil {
			return err
		}
		if c.Skew == nil {
			return fmt.Errorf("the clock of client %s cannot be set", name)
		}
		return s.Nemesis.Start(ctx, nemesis.ClientClockJump(name, c.Skew, s.Clock.Now, s.ttls(ttls)))
	}}
}

// ServerClockJumps sets the clock of a shard's server wrong by a number of TTLs, forward or
// back. It stays so until the end. Where clocks cannot be set a jump forward is logical.
func ServerClockJumps(shard int, ttls float64) Step {
	return Step{fmt.Sprintf("the clock of %s jumps by %v TTLs", ofShards([]int{shard}), ttls), func(ctx context.Context, s *Stage) error {
		node := s.Cluster.Primary(shard)
		if c, ok := s.Cluster.(nemesis.Clocked); ok {
			if _, err := c.Clocks(); err == nil {
				return s.Nemesis.Start(ctx, nemesis.ClockJump(c, node, s.Clock.Now, s.ttls(ttls)))
			}
		}
		c, ok := s.Cluster.(cluster.Commander)
		if !ok {
			return fmt.Errorf("this backend cannot set the clock of a server")
		}
		return s.Nemesis.Start(ctx, nemesis.LogicalClockJump(c, node, s.ttls(ttls)))
	}}
}

func (s *Stage) ttls(n float64) time.Duration {
	return time.Duration(n * float64(s.TTL)).Round(time.Millisecond)
}
