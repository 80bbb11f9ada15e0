package nemesis

import (
	"context"
	"errors"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/redis/cluster"
)

// KillF is the death of a server.
const KillF histories.F = "kill"

// killable is a deployment whose servers can be killed, and seen to be dead.
type killable interface {
	cluster.Cluster
	cluster.Killer
}

// killServer ends node at once, as kill -9 does. It stays dead.
func killServer(c killable, node string) Fault {
	return Fault{
		F: KillF, Target: node, Plan: "kill -9",
		Start: func(ctx context.Context) (string, error) {
			if err := c.Kill(ctx, node); err != nil {
				return "", err
			}
			return "it is dead", seeDead(c, node)
		},
	}
}

// killKind is for schedules alone.
func killKind() Kind {
	return Kind{
		Name: "kill", Title: "a server of the lock dies", F: KillF, AtOnce: true,
		Unsupported: func(c cluster.Cluster) error {
			if _, ok := c.(killable); !ok {
				return errors.New("its servers cannot be killed")
			}
			return nil
		},
		Begins: "the master dies",
		Hits:   HitsServer, Make: onServer("kill a server", killServer),
	}
}
