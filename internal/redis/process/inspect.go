package process

import (
	"context"
	"fmt"

	"github.com/lockbench/lockbench/internal/redis/cluster"
	"github.com/lockbench/lockbench/internal/redis/node"
	"github.com/lockbench/lockbench/internal/wire"
)

// Inspect looks at all keys of a database at one instant, in a transaction on a connection of its
// own. It waits for a paused node until ctx ends.
func (c *Cluster) Inspect(ctx context.Context, name string, database int, keys ...string) ([]cluster.KeyState, error) {
	ctx, cancel := c.links.Bound(ctx)
	defer cancel()
	addr, _, err := c.locate(name)
	if err != nil {
		return nil, err
	}
	var states []cluster.KeyState
	err = node.Admin(ctx, addr, func(conn *wire.Conn) error {
		states, err = node.Inspect(ctx, conn, database, keys)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("inspect %s: %w", name, err)
	}
	return states, nil
}

// Do sends a command to node over a connection of its own. It waits for a paused node
// until ctx ends.
func (c *Cluster) Do(ctx context.Context, name string, args ...string) (wire.Reply, error) {
	ctx, cancel := c.links.Bound(ctx)
	defer cancel()
	addr, _, err := c.locate(name)
	if err != nil {
		return wire.Reply{}, err
	}
	reply, err := node.Command(ctx, addr, args...)
	if err != nil {
		return wire.Reply{}, fmt.Errorf("%s: %w", name, err)
	}
	return reply, nil
}
