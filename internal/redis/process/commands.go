package process

import (
	"context"
	"fmt"

	"github.com/lockbench/lockbench/internal/redis/cluster"
	"github.com/lockbench/lockbench/internal/redis/node"
	"github.com/lockbench/lockbench/internal/wire"
)

var _ cluster.CommandTeller = (*Cluster)(nil)

// Unknown returns those of commands that the server of node does not know.
func (c *Cluster) Unknown(ctx context.Context, name string, commands ...string) (unknown []string, err error) {
	ctx, cancel := c.links.Bound(ctx)
	defer cancel()
	addr, _, err := c.locate(name)
	if err != nil {
		return nil, err
	}
	err = node.Admin(ctx, addr, func(conn *wire.Conn) (err error) {
		unknown, err = node.UnknownCommands(ctx, conn, commands)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return unknown, nil
}
