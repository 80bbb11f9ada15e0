package nemesis

import (
	"context"
	"fmt"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/redis/cluster"
)

// RestartAOFF is a server that dies and comes back with its append-only file.
const RestartAOFF histories.F = "restart-aof"

// restartAOF kills a server that syncs every write before it answers; healing starts it
// again with its append-only file (P21, P51: what saves the lock there). TTLs run on
// meanwhile: the file has the instants at which keys expire. The server keeps its file
// from this fault on. lock are the
// keys to look for.
func restartAOF(c cluster.Persister, clock Clock, node string, lock cluster.Place) Fault {
	var killed time.Time
	return Fault{
		F: RestartAOFF, Target: node, Plan: fmt.Sprintf("kill -9; it keeps its data (%s)", aof(c, cluster.FsyncAlways)),
		Simulated: c.SimulatedAOF(),
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
		Unsupported: needsAOF,
		Means:       func(c cluster.Cluster) string { return aof(c.(cluster.Persister), cluster.FsyncAlways) },
		Hits:        HitsServer,
		Begins:      "{server}: killed, with its append-only file on disk",
		Ends:        "{server}: started again, with its append-only file",
		Make: func(s Scene, t Target) (Fault, error) {
			return onServer(wantFile, func(c cluster.Persister, node string) Fault { return restartAOF(c, s.Clock, node, s.Kept) })(s, t)
		},
		Pick: pickServer,
	}
}
