package docker

import (
	"context"
	"time"

	"github.com/lockbench/lockbench/internal/redis/cluster"
)

var _ cluster.Lagger = (*Cluster)(nil)

// LagReplication delays the stream to replica on its link to its master.
func (c *Cluster) LagReplication(_ context.Context, replica string, by time.Duration) error {
	return c.repl.Lag(replica, by)
}
