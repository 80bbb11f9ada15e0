package nemesis

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/lockbench/lockbench/cluster"
	"github.com/lockbench/lockbench/histories"
)

// RestartAOFF is a server that dies and comes back with its append-only file.
const RestartAOFF histories.F = "restart-aof"

// RestartAOF kills a server that syncs every write before it answers; healing starts it
// again with its append-only file (P21, P51: what saves the lock there). TTLs run on
// meanwhile: the file has the instants at which keys expire. The server keeps its file
// from this fault on. lock are the
// keys to look for.
func RestartAOF(c cluster.Persister, clock Clock, node string, lock cluster.Place) Fault {
	var killed time.Time
	return Fault{
		F: RestartAOFF, Target: node, Plan: fmt.Sprintf("kill -9; it keeps its data (%s)", aof(c, cluster.FsyncAlways)),
		Start: func(ctx context.Context) (string, error) {
			if err := c.Persist(ctx, node, cluster.FsyncAlways); err != nil {
				return "", err
			}
			killed = clock.Now()
			return "", c.Kill(ctx, node)
		},
		Stop: func(ctx context.Context) (string, error) {
			keys, err := c.Recover(ctx, node)
			return fmt.Sprintf("%s, back %s", away(clock, killed), cameBack(keys, lock)), err
		},
	}
}

func restartAOFKind() Kind {
	return Kind{
		Name: "restart-aof", Title: "a server of the lock dies and comes back with its append-only file (AOF)", F: RestartAOFF, Brief: true,
		Needs: needsAOF,
		Means: func(c cluster.Cluster) string { return aof(c.(cluster.Persister), cluster.FsyncAlways) },
		Draw: func(s Scene, r *rand.Rand) (Fault, bool) {
			node, alive := s.server(r)
			c, ok := s.Cluster.(cluster.Persister)
			if !alive || !ok {
				return Fault{}, false
			}
			return RestartAOF(c, s.Clock, node, s.Kept), true
		},
	}
}
