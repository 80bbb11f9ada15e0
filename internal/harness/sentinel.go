package harness

import (
	"context"
	"fmt"
	"net"

	"github.com/lockbench/lockbench/internal/redis/cluster"
	"github.com/lockbench/lockbench/locks"
)

// failoverClient is a client of the first shard that asks the Sentinels who its master is.
// reach dials them and the nodes that they name.
func failoverClient(c cluster.Cluster, reach func(ctx context.Context, node string) (net.Conn, error)) *locks.Client {
	s, _ := c.(cluster.Sentinel) // a deployment without any was refused
	return locks.NewFailoverClient(cluster.SentinelMaster, s.Sentinels(), func(ctx context.Context, addr string) (net.Conn, error) {
		node, ok := s.Announced(addr)
		if !ok {
			return nil, fmt.Errorf("no node announces %s", addr)
		}
		return reach(ctx, node)
	})
}
