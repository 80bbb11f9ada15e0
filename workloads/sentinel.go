package workloads

import (
	"context"
	"fmt"

	"github.com/lockbench/lockbench/nemesis"
)

// SentinelsFailOver ends the first master, and waits until the Sentinels have promoted
// another node.
func SentinelsFailOver() Step {
	return Step{"the master dies, and the Sentinels promote its replica", func(ctx context.Context, s *Stage) error {
		g, ok := s.Cluster.(nemesis.Guarded)
		if !ok {
			return fmt.Errorf("this backend has no Sentinels")
		}
		return s.Nemesis.Start(ctx, nemesis.SentinelFailover(g, s.Cluster.Primary(0)))
	}}
}
