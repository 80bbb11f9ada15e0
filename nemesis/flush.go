package nemesis

import (
	"context"
	"fmt"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/redis/cluster"
)

// FlushF is a server whose data somebody deletes.
const FlushF histories.F = "flush"

// flushAll empties a server and counts its keys before and after, while nobody else writes.
const flushAll = `local before = redis.call('DBSIZE')
redis.call('FLUSHALL')
return {before, redis.call('DBSIZE')}`

// flush deletes everything on a server, and by replication on its replicas: locks,
// fence counters and all. Scripts stay. It is over at once, and nothing brings the data
// back.
func flush(c cluster.Commander, node string) Fault {
	return Fault{
		F: FlushF, Target: node, Plan: "FLUSHALL",
		Start: func(ctx context.Context) (string, error) {
			reply, err := c.Do(ctx, node, "EVAL", flushAll, "0")
			if err != nil {
				return "", err
			}
			if len(reply.Elems) != 2 || reply.Elems[1].Text() != "0" {
				return "", fmt.Errorf("want two counts of keys, the second 0, got %v", reply)
			}
			before, err := reply.Elems[0].Int()
			return fmt.Sprintf("%s gone", keys(before)), err
		},
	}
}

func flushKind() Kind {
	return Kind{
		Name: "flush", Title: "somebody deletes all keys of a server of the lock (FLUSHALL)", F: FlushF, AtOnce: true, Unsupported: needsCommands,
		Begins: "somebody deletes all keys of {server}",
		Hits:   HitsServer, Make: onServer(wantCommands, flush), Pick: pickServer,
	}
}
