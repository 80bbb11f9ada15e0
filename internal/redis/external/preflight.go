package external

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/lockbench/lockbench/internal/redis/node"
	"github.com/lockbench/lockbench/internal/wire"
)

// preflight returns why a run cannot be had on a server, or nil. It writes nothing.
func preflight(ctx context.Context, conn *wire.Conn, prefix string) error {
	role, err := node.Do(ctx, conn, "ROLE")
	if err != nil {
		return explained(err)
	}
	if len(role.Elems) == 0 {
		return errors.New("ROLE has no answer, so that it is not known to be a master")
	}
	switch is := role.Elems[0].Text(); is {
	case "master":
	case "slave":
		return errors.New("is a replica: name its master")
	default:
		return fmt.Errorf("is a %s: name a master", is)
	}
	clustered, err := node.Info(ctx, conn, "cluster", "cluster_enabled")
	if err != nil {
		return explained(err)
	}
	if clustered != 0 {
		return errors.New("is a node of a Redis Cluster: locks are tried on servers that stand alone")
	}
	// Whatever cannot be removed must not be written.
	for _, command := range [][]string{
		{"SCAN", "0", "MATCH", pattern(prefix), "COUNT", "1"},
		{"DEL", prefix + "preflight"},
	} {
		if _, err := node.Do(ctx, conn, command...); err != nil {
			return explained(err)
		}
	}
	return nil
}

// explained returns what to do about a server's refusal.
func explained(err error) error {
	switch text := err.Error(); {
	case strings.Contains(text, "NOAUTH"):
		return errors.New("wants a password: give it in the address, redis://user:password@host:port, or in LOCKBENCH_REDIS_PASSWORD")
	case strings.Contains(text, "NOPERM"):
		return fmt.Errorf("does not let its user do what a run needs (+role +info +scan +del, the lock's commands, and keys *lockbench:*): %w", err)
	}
	return fmt.Errorf("does not answer as a Redis server does: %w", err)
}
