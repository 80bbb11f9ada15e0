package process

import (
	"context"

	"github.com/lockbench/lockbench/internal/osproc"
	"github.com/lockbench/lockbench/internal/redis/node"
)

// Usage looks at the process of node.
func (c *Cluster) Usage(ctx context.Context, name string) (osproc.Usage, error) {
	s, err := c.Machine(name)
	if err != nil {
		return osproc.Usage{}, err
	}
	r := s.current()
	if r == nil {
		return osproc.Usage{}, node.NotRunning(name)
	}
	return osproc.Measure(ctx, r.process.Pid)
}

// Stopped looks whether the process of node stands still.
func (c *Cluster) Stopped(ctx context.Context, name string) (pid int, stopped bool, err error) {
	u, err := c.Usage(ctx, name)
	return u.PID, u.Stopped, err
}
