package harness

import (
	"context"
	"fmt"

	"github.com/lockbench/lockbench/internal/redis/cluster"
)

// persist makes the servers of a lock that needs it keep an append-only file, or returns an *UnfitError if
// they cannot be told to. They sync it always: synced once a second it would take a second of each lease, of
// which scripts on real servers have few, and the power-loss fault sets that by itself.
func (c Config) persist(ctx context.Context, servers cluster.Cluster) error {
	if !c.Lock.AOF {
		return nil
	}
	keeper, ok := servers.(cluster.Persister)
	if !ok {
		return &UnfitError{fmt.Errorf("lock %s needs servers with an append-only file, and backend %s cannot tell its servers to keep one", c.Lock.Name, c.Backend.Name)}
	}
	for _, n := range servers.Nodes() {
		if n.Role == cluster.Register {
			continue
		}
		if err := keeper.Persist(ctx, n.Name, cluster.FsyncAlways); err != nil {
			return err
		}
	}
	return nil
}
