package node

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/redis/cluster"
	"github.com/lockbench/lockbench/internal/wire"
)

// Inspect looks at all keys of a database at one instant, in a transaction, and at the ends of fields a
// moment later. The connection stays with that database.
func Inspect(ctx context.Context, conn *wire.Conn, database int, keys []string) ([]cluster.KeyState, error) {
	return inspect(ctx, conn, database, keys, true)
}

// InspectStrings is Inspect for users who may not read hashes and sorted sets: of those it
// does not tell what they hold.
func InspectStrings(ctx context.Context, conn *wire.Conn, database int, keys []string) ([]cluster.KeyState, error) {
	return inspect(ctx, conn, database, keys, false)
}

func inspect(ctx context.Context, conn *wire.Conn, database int, keys []string, fields bool) ([]cluster.KeyState, error) {
	var commands [][]string
	if database != 0 { // a connection begins in the first, and users may lack the right to select
		commands = append(commands, []string{"SELECT", strconv.Itoa(database)})
	}
	commands = append(commands, []string{"MULTI"})
	each := 3 // commands for a key
	if fields {
		each = 5
	}
	for _, key := range keys {
		all := [][]string{{"TYPE", key}, {"PTTL", key}, {"GET", key}, {"HGETALL", key}, {"ZRANGE", key, "0", "-1", "WITHSCORES"}}
		commands = append(commands, all[:each]...)
	}
	commands = append(commands, []string{"EXEC"})
	replies, err := conn.Pipeline(ctx, commands...)
	if err != nil {
		return nil, err
	}
	for i, reply := range replies {
		if err := reply.Err(); err != nil {
			if len(keys) > 1 && crossSlot(err) {
				return inspectEach(ctx, conn, database, keys, fields)
			}
			return nil, fmt.Errorf("%s: %w", commands[i][0], err)
		}
	}
	reply := replies[len(replies)-1]
	if len(reply.Elems) != each*len(keys) {
		return nil, fmt.Errorf("EXEC: want %d replies, got %d", each*len(keys), len(reply.Elems))
	}
	states := make([]cluster.KeyState, len(keys))
	for i, key := range keys {
		if states[i], err = keyState(key, reply.Elems[each*i:each*(i+1)]); err != nil {
			return nil, err
		}
		states[i].Database = database
	}
	return states, lookAtFields(ctx, conn, states)
}

// inspectEach looks at one key after another, for a server in cluster mode does not look at
// keys of different slots at one instant.
func inspectEach(ctx context.Context, conn *wire.Conn, database int, keys []string, fields bool) ([]cluster.KeyState, error) {
	var states []cluster.KeyState
	for i := range keys {
		state, err := inspect(ctx, conn, database, keys[i:i+1], fields)
		if err != nil {
			return nil, err
		}
		states = append(states, state...)
	}
	return states, nil
}

func crossSlot(err error) bool { return err != nil && strings.Contains(err.Error(), "CROSSSLOT") }

// keyState reads the replies to TYPE, PTTL and GET, and perhaps to HGETALL and ZRANGE. The last
// three refuse keys of other types than theirs; that is not an error here.
func keyState(key string, replies []wire.Reply) (cluster.KeyState, error) {
	kind, pttl, value := replies[0], replies[1], replies[2]
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
	switch state.Type {
	case "string":
		state.Value = value.Text()
	case "hash":
		if len(replies) > 3 {
			state.Fields = fields(replies[3])
		}
	case "zset":
		if len(replies) > 4 {
			state.Fields = fields(replies[4])
		}
	}
	return state, nil
}

// fields reads names and values that take turns, and sorts them by name.
func fields(reply wire.Reply) []cluster.Field {
	var fields []cluster.Field
	for pair := range slices.Chunk(reply.Elems, 2) {
		if len(pair) == 2 {
			fields = append(fields, cluster.Field{Name: pair[0].Text(), Value: pair[1].Text()})
		}
	}
	slices.SortFunc(fields, func(a, b cluster.Field) int { return strings.Compare(a.Name, b.Name) })
	return fields
}
