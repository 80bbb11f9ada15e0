package nemesis

import (
	"context"

	"github.com/lockbench/lockbench/cluster"
	"github.com/lockbench/lockbench/histories"
)

// KillF is the death of a server.
const KillF histories.F = "kill"

// Kill ends node at once, as kill -9 does. It stays dead.
func Kill(c cluster.Killer, node string) Fault {
	return Fault{
		F: KillF, Target: node, Plan: "kill -9",
		Start: func(ctx context.Context) (string, error) { return "it is dead", c.Kill(ctx, node) },
	}
}
