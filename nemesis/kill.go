package nemesis

import (
	"context"

	"github.com/lockbench/lockbench/cluster"
	"github.com/lockbench/lockbench/histories"
)

// KillF is the death of a server.
const KillF histories.F = "kill"

// Killable is a deployment whose servers can be killed, and seen to be dead.
type Killable interface {
	cluster.Cluster
	cluster.Killer
}

// Kill ends node at once, as kill -9 does. It stays dead.
func Kill(c Killable, node string) Fault {
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
