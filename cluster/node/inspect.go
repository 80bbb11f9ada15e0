package node

import (
	"context"
	"fmt"
	"time"

	"github.com/lockbench/lockbench/cluster"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/wire"
)

// Inspect looks at all keys at one instant, in a transaction.
func Inspect(ctx context.Context, conn *wire.Conn, keys []string) ([]cluster.KeyState, error) {
	commands := [][]string{{"MULTI"}}
	for _, key := range keys {
		commands = append(commands, []string{"TYPE", key}, []string{"PTTL", key}, []string{"GET", key})
	}
	for _, command := range commands {
		if _, err := Do(ctx, conn, command...); err != nil {
			return nil, err
		}
	}
	reply, err := Do(ctx, conn, "EXEC")
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
