package process

import (
	"context"
	"fmt"
	"time"

	"github.com/lockbench/lockbench/cluster"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/wire"
)

// Inspect looks at all keys at one instant, in a transaction on a connection of its
// own. It waits for a paused node until ctx ends.
func (c *Cluster) Inspect(ctx context.Context, node string, keys ...string) ([]cluster.KeyState, error) {
	s, err := c.server(node)
	if err != nil {
		return nil, err
	}
	ctx, cancel := c.bound(ctx)
	defer cancel()
	var states []cluster.KeyState
	err = s.admin(ctx, func(conn *wire.Conn) error {
		states, err = inspect(ctx, conn, keys)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("inspect %s: %w", node, err)
	}
	return states, nil
}

// admin calls f with an admin connection to the server.
func (s *server) admin(ctx context.Context, f func(*wire.Conn) error) error {
	r := s.current()
	if r == nil {
		return notRunning(s.node.Name)
	}
	if err := admin(ctx, r.addr(), f); err != nil {
		if ctx.Err() != nil { // more to the point than a read that timed out
			return fmt.Errorf("%w (%w)", context.Cause(ctx), err)
		}
		return err
	}
	return nil
}

func inspect(ctx context.Context, conn *wire.Conn, keys []string) ([]cluster.KeyState, error) {
	commands := [][]string{{"MULTI"}}
	for _, key := range keys {
		commands = append(commands, []string{"TYPE", key}, []string{"PTTL", key}, []string{"GET", key})
	}
	for _, command := range commands {
		if _, err := do(ctx, conn, command...); err != nil {
			return nil, err
		}
	}
	reply, err := do(ctx, conn, "EXEC")
	if err != nil {
		return nil, err
	}
	if len(reply.Elems) != 3*len(keys) {
		return nil, fmt.Errorf("EXEC: want %d replies, got %d", 3*len(keys), len(reply.Elems))
	}
	states := make([]cluster.KeyState, len(keys))
	for i, key := range keys {
		if states[i], err = keyState(key, reply.Elems[3*i], reply.Elems[3*i+1], reply.Elems[3*i+2]); err != nil {
			return nil, err
		}
	}
	return states, nil
}

// keyState reads the replies to TYPE, PTTL and GET. GET refuses keys of other types
// than string; that is not an error here.
func keyState(key string, kind, pttl, value wire.Reply) (cluster.KeyState, error) {
	if err := kind.Err(); err != nil {
		return cluster.KeyState{}, fmt.Errorf("TYPE %s: %w", key, err)
	}
	ms, err := pttl.Int()
	if err != nil {
		return cluster.KeyState{}, fmt.Errorf("PTTL %s: %w", key, err)
	}
	state := cluster.KeyState{Key: key}
	if ms == -2 { // no such key; -1: no expiry
		return state, nil
	}
	state.Exists = true
	state.Type = kind.Text()
	state.TTL = time.Duration(ms) * time.Millisecond
	if ms == -1 {
		state.TTL = histories.NoTTL
	}
	if state.Type == "string" {
		state.Value = value.Text()
	}
	return state, nil
}
