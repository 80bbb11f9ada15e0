package nemesis

import (
	"context"
	"errors"
	"math/rand/v2"

	"github.com/lockbench/lockbench/cluster"
	"github.com/lockbench/lockbench/histories"
)

// RestartF is a server that dies and comes back empty.
const RestartF histories.F = "restart"

// Restarter is a deployment whose servers can die and come back.
type Restarter interface {
	cluster.Killer
	cluster.Restarter
}

// Restart kills a server; healing starts it again, with nothing of what it held (P21,
// P51).
func Restart(c Restarter, node string) Fault {
	return Fault{
		F: RestartF, Target: node, Plan: "kill -9",
		Start: func(ctx context.Context) (string, error) { return "", c.Kill(ctx, node) },
		Stop: func(ctx context.Context) (string, error) {
			return "started again, empty", c.Restart(ctx, node)
		},
	}
}

func restartKind() Kind {
	return Kind{
		Name: "restart", Title: "a server of the lock dies and comes back empty", F: RestartF, Brief: true,
		Needs: func(c cluster.Cluster) error {
			if _, ok := c.(Restarter); !ok {
				return errors.New("its servers cannot be killed and started again")
			}
			return nil
		},
		Draw: func(s Scene, r *rand.Rand) (Fault, bool) {
			node, alive := s.server(r)
			c, ok := s.Cluster.(Restarter)
			return Restart(c, node), alive && ok
		},
	}
}
