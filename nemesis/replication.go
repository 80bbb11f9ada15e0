package nemesis

import (
	"context"
	"fmt"

	"github.com/lockbench/lockbench/cluster"
	"github.com/lockbench/lockbench/histories"
)

// Replication faults.
const (
	CutReplicationF histories.F = "cut-replication"
	PromoteF        histories.F = "promote"
)

// CutReplication severs the link that feeds replica until it is healed. The master
// does not notice: it goes on acknowledging writes that the replica never gets.
func CutReplication(c cluster.Replicator, replica string) Fault {
	return Fault{
		F: CutReplicationF, Target: replica, Plan: "the link from its master is cut",
		Start: func(ctx context.Context) (string, error) { return "", c.CutReplication(ctx, replica) },
		Stop: func(ctx context.Context) (string, error) {
			return "link restored", c.HealReplication(ctx, replica)
		},
	}
}

// Promote makes replica the master of its shard, as a failover does. What had not
// reached it is lost.
func Promote(c cluster.Replicator, replica string) Fault {
	return Fault{
		F: PromoteF, Target: replica, Plan: "failover to it begins",
		Start: func(ctx context.Context) (string, error) {
			have, sent, err := c.Offsets(ctx, replica)
			if err != nil {
				return "", err
			}
			if err := c.Promote(ctx, replica); err != nil {
				return "", err
			}
			return fmt.Sprintf("it is the master now, and had received %d of %d of the old one's stream", have, sent), nil
		},
	}
}
