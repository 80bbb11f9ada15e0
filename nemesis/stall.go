package nemesis

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/lockbench/lockbench/cluster"
	"github.com/lockbench/lockbench/histories"
)

// StallF is a server that stands still.
const StallF histories.F = "stall"

// Stoppable is a deployment whose servers can be stopped, and seen to say nothing.
type Stoppable interface {
	cluster.Commander
	cluster.Pauser
}

// Stall stops a server, as SIGSTOP does: its connections stay open, its TTLs run, and
// what it is sent is answered late (P58).
func Stall(c Stoppable, node string) Fault {
	return Fault{
		F: StallF, Target: node, Plan: "server stands still",
		Start: func(ctx context.Context) (string, error) {
			if err := c.Pause(ctx, node); err != nil {
				return "", err
			}
			seen := "it answered no PING"
			if p, ok := c.(cluster.Processes); ok {
				pid, stopped, err := p.Stopped(ctx, node)
				if err != nil {
					return "", err
				}
				if !stopped {
					return "", fmt.Errorf("process %d of %s was stopped and still runs", pid, node)
				}
				seen = fmt.Sprintf("process %d was stopped and answered no PING", pid)
			}
			return seen, seeSilence(ctx, c, node)
		},
		Stop: func(ctx context.Context) (string, error) {
			if err := c.Resume(ctx, node); err != nil {
				return "", err
			}
			return "server goes on and answers", seeAnswer(ctx, c, node)
		},
	}
}

func stallKind() Kind {
	return Kind{
		Name: "stall", Title: "a server of the lock stands still", F: StallF, Spares: true,
		Needs: func(c cluster.Cluster) error {
			if _, ok := c.(Stoppable); !ok {
				return errors.New("its servers cannot be stopped")
			}
			return nil
		},
		Draw: func(s Scene, r *rand.Rand) (Fault, bool) {
			node, alive := s.server(r)
			p, ok := s.Cluster.(Stoppable)
			return Stall(p, node), alive && ok
		},
	}
}
