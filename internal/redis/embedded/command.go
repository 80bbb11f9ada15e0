package embedded

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/lockbench/lockbench/internal/wire"
)

// Do sends a command to node without any connection, at this instant. What it changes
// sets out for the replicas. A paused node refuses at once.
func (c *Cluster) Do(_ context.Context, name string, args ...string) (wire.Reply, error) {
	n, err := c.node(name)
	if err != nil {
		return wire.Reply{}, err
	}
	if len(args) == 0 {
		return wire.Reply{}, errors.New("want a command for " + name + ", got nothing")
	}
	reply, err := n.do(args)
	if err != nil {
		return wire.Reply{}, fmt.Errorf("%s on %s: %w", args[0], name, err)
	}
	return reply, nil
}

// SimulateEviction deletes every key of node: miniredis does not know maxmemory.
func (c *Cluster) SimulateEviction(ctx context.Context, name string) (keys int64, err error) {
	size, err := c.Do(ctx, name, "DBSIZE")
	if err != nil {
		return 0, err
	}
	if _, err := c.Do(ctx, name, "FLUSHALL"); err != nil {
		return 0, err
	}
	return size.Int()
}

func (n *node) do(args []string) (wire.Reply, error) {
	if n.isPaused() {
		return wire.Reply{}, errPaused
	}
	n.tick()
	m := n.server()
	if m == nil {
		return wire.Reply{}, errDown
	}
	out := newMemory()
	defer n.forget(out.Peer)
	m.Server().Dispatch(out.Peer, args)
	n.answered()
	reply, err := wire.ReadReply(bufio.NewReader(strings.NewReader(out.written())))
	if err == nil {
		err = reply.Err()
	}
	return reply, err
}
