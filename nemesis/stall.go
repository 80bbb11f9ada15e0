package nemesis

import (
	"context"
	"errors"
	"fmt"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/redis/cluster"
)

// StallF is a server that stands still.
const StallF histories.F = "stall"

// stoppable is a deployment whose servers can be stopped, and seen to say nothing.
type stoppable interface {
	cluster.Commander
	cluster.Pauser
}

// stall stops a server, as SIGSTOP does: its connections stay open, its TTLs run, and
// what it is sent is answered late (P58).
func stall(c stoppable, node string) Fault {
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
		Unsupported: func(c cluster.Cluster) error {
			if _, ok := c.(stoppable); !ok {
				return errors.New("its servers cannot be stopped")
			}
			return nil
		},
		Begins: "{server} stands still",
		Ends:   "{server} goes on",
		Hits:   HitsServer, Make: onServer("stop a server", stall), Pick: pickServer,
	}
}
