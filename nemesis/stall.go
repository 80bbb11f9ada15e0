package nemesis

import (
	"context"
	"errors"
	"math/rand/v2"

	"github.com/lockbench/lockbench/cluster"
	"github.com/lockbench/lockbench/histories"
)

// StallF is a server that stands still.
const StallF histories.F = "stall"

// Stall stops a server, as SIGSTOP does: its connections stay open, its TTLs run, and
// what it is sent is answered late (P58).
func Stall(c cluster.Pauser, node string) Fault {
	return Fault{
		F: StallF, Target: node, Plan: "server stands still",
		Start: func(ctx context.Context) (string, error) { return "", c.Pause(ctx, node) },
		Stop: func(ctx context.Context) (string, error) {
			return "server goes on", c.Resume(ctx, node)
		},
	}
}

func stallKind() Kind {
	return Kind{
		Name: "stall", Title: "a server of the lock stands still", F: StallF,
		Needs: func(c cluster.Cluster) error {
			if _, ok := c.(cluster.Pauser); !ok {
				return errors.New("its servers cannot be stopped")
			}
			return nil
		},
		Draw: func(s Scene, r *rand.Rand) (Fault, bool) {
			node, alive := s.server(r)
			p, ok := s.Cluster.(cluster.Pauser)
			return Stall(p, node), alive && ok
		},
	}
}
