package node

import (
	"context"
	"fmt"

	"github.com/lockbench/lockbench/internal/redis/cluster"
	"github.com/lockbench/lockbench/internal/wire"
)

// ask calls by with a connection of its own to a node. It waits for a paused node until ctx ends.
func (f *Fleet[M]) ask(ctx context.Context, name string, by func(context.Context, *wire.Conn) error) error {
	ctx, cancel := f.Links.Bound(ctx)
	defer cancel()
	addr, _, err := f.Locate(name)
	if err != nil {
		return err
	}
	return Admin(ctx, addr, func(conn *wire.Conn) error { return by(ctx, conn) })
}

// Inspect looks at all keys of a database at one instant, in a transaction on a connection of its
// own. It waits for a paused node until ctx ends.
func (f *Fleet[M]) Inspect(ctx context.Context, name string, database int, keys ...string) (states []cluster.KeyState, err error) {
	err = f.ask(ctx, name, func(ctx context.Context, conn *wire.Conn) (err error) {
		states, err = Inspect(ctx, conn, database, keys)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("inspect %s: %w", name, err)
	}
	return states, nil
}

// Do sends a command to node over a connection of its own. It waits for a paused node
// until ctx ends.
func (f *Fleet[M]) Do(ctx context.Context, name string, args ...string) (wire.Reply, error) {
	ctx, cancel := f.Links.Bound(ctx)
	defer cancel()
	addr, _, err := f.Locate(name)
	if err != nil {
		return wire.Reply{}, err
	}
	reply, err := Command(ctx, addr, args...)
	if err != nil {
		return wire.Reply{}, fmt.Errorf("%s: %w", name, err)
	}
	return reply, nil
}

// Unknown returns those of commands that the server of node does not know.
func (f *Fleet[M]) Unknown(ctx context.Context, name string, commands ...string) (unknown []string, err error) {
	err = f.ask(ctx, name, func(ctx context.Context, conn *wire.Conn) (err error) {
		unknown, err = UnknownCommands(ctx, conn, commands)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return unknown, nil
}
