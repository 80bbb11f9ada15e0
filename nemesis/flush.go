package nemesis

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/lockbench/lockbench/cluster"
	"github.com/lockbench/lockbench/histories"
)

// FlushF is a server whose data somebody deletes.
const FlushF histories.F = "flush"

// Flush deletes everything on a server, and by replication on its replicas: locks,
// fence counters and all. Scripts stay. It is over at once, and nothing brings the data
// back.
func Flush(c cluster.Commander, node string) Fault {
	return Fault{
		F: FlushF, Target: node, Plan: "FLUSHALL",
		Start: func(ctx context.Context) (string, error) {
			before, err := number(ctx, c, node, "DBSIZE")
			if err != nil {
				return "", err
			}
			if _, err := c.Do(ctx, node, "FLUSHALL"); err != nil {
				return "", err
			}
			return fmt.Sprintf("%s gone", keys(before)), nil
		},
	}
}

func flushKind() Kind {
	return Kind{
		Name: "flush", Title: "somebody deletes all keys of a server of the lock (FLUSHALL)", F: FlushF, Needs: needsCommands,
		Draw: func(s Scene, r *rand.Rand) (Fault, bool) {
			c, node, ok := s.commander(r)
			return Flush(c, node), ok
		},
	}
}
