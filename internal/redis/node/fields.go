package node

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/redis/cluster"
	"github.com/lockbench/lockbench/internal/wire"
)

// lookAtFields says of hashes without a time to live when they are gone: with the last of their fields,
// if each of them ends. It asks a moment after the hashes were seen, since it must name the fields. Servers
// that do not know HPTTL (before Redis 7.4 and Valkey 9.0) have no fields that end.
func lookAtFields(ctx context.Context, conn *wire.Conn, states []cluster.KeyState) error {
	for i, s := range states {
		if s.Type != "hash" || s.TTL != histories.NoTTL {
			continue
		}
		ttl, there, err := fieldsTTL(ctx, conn, s.Key)
		switch {
		case err != nil:
			return fmt.Errorf("fields of %s: %w", s.Key, err)
		case !there:
			states[i] = cluster.KeyState{Key: s.Key, Database: s.Database}
		default:
			states[i].TTL = ttl
		}
	}
	return nil
}

// fieldsTTL is how long a hash has fields, NoTTL if for ever. It is there if it has any: a server may
// remove one some time after its last field has ended.
func fieldsTTL(ctx context.Context, conn *wire.Conn, key string) (ttl time.Duration, there bool, err error) {
	names, err := Do(ctx, conn, "HKEYS", key)
	switch {
	case err != nil:
		return refusedTTL(ctx, conn, key, err)
	case len(names.Elems) == 0:
		return 0, false, nil
	}
	ask := []string{"HPTTL", key, "FIELDS", strconv.Itoa(len(names.Elems))}
	for _, name := range names.Elems {
		ask = append(ask, name.Text())
	}
	left, err := Do(ctx, conn, ask...)
	if err != nil {
		return refusedTTL(ctx, conn, key, err)
	}
	for _, field := range left.Elems {
		switch ms, err := field.Int(); {
		case err != nil:
			return 0, false, fmt.Errorf("HPTTL: %w", err)
		case ms == -1:
			return histories.NoTTL, true, nil
		case ms >= 0: // -2: it is gone
			ttl, there = max(ttl, time.Duration(ms)*time.Millisecond), true
		}
	}
	return ttl, there, nil
}

// refusedTTL says what it means that a server refused to tell of fields: that the key is no hash any more, or that
// the server knows no HPTTL. Else the refusal is the error.
func refusedTTL(ctx context.Context, conn *wire.Conn, key string, refusal error) (ttl time.Duration, there bool, err error) {
	if kind, err := Do(ctx, conn, "TYPE", key); err == nil && kind.Text() != "hash" {
		return 0, false, nil
	}
	if unknown, err := UnknownCommands(ctx, conn, []string{"HPTTL"}); err == nil && len(unknown) > 0 {
		return histories.NoTTL, true, nil
	}
	return 0, false, refusal
}
