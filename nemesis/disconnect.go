package nemesis

import (
	"context"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/redis/cluster"
)

// DisconnectF is a server whose cable is pulled.
const DisconnectF histories.F = "disconnect"

// networkLimit bounds how long the network is waited for to do what it was told.
const networkLimit = 20 * time.Second

// cables is a deployment whose servers can be taken off their network.
type cables interface {
	cluster.Commander
	cluster.Disconnecter
}

// disconnect takes a server off its network: it lives on, but nothing gets to it or from
// it, and no connection ends, so that clients learn of it by their own time-outs alone.
// Healing puts it back at the same address, with everything that it held.
func disconnect(c cables, node string) Fault {
	return Fault{
		F: DisconnectF, Target: node, Plan: "it is taken off its network",
		Start: func(ctx context.Context) (string, error) {
			if err := c.Disconnect(ctx, node); err != nil {
				return "", err
			}
			return "", seeSilence(ctx, c, node)
		},
		Stop: func(ctx context.Context) (string, error) {
			if err := c.Reconnect(ctx, node); err != nil {
				return "", err
			}
			return "it did not answer PING; back on its network it does", seeAnswer(ctx, c, node)
		},
	}
}

func disconnectKind() Kind {
	return Kind{
		Name: "disconnect", Title: "a server of the lock is taken off its network", F: DisconnectF, Virtual: "stall",
		Unsupported: func(c cluster.Cluster) error {
			if _, ok := c.(cables); !ok {
				return errNoNetwork
			}
			return nil
		},
		Means:  func(cluster.Cluster) string { return "docker network disconnect" },
		Hits:   HitsServer,
		Begins: "{server} is taken off its network",
		Ends:   "{server} is back on its network",
		Make:   onServer("take a server off its network", disconnect),
		Pick:   pickServer,
	}
}
