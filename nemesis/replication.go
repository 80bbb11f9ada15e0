package nemesis

import (
	"context"
	"fmt"
	"strings"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/redis/cluster"
)

// Replication faults.
const (
	CutReplicationF histories.F = "cut-replication"
	PromoteF        histories.F = "promote"
)

// cutReplication severs the link that feeds replica until it is healed. The master
// does not notice: it goes on acknowledging writes that the replica never gets.
func cutReplication(c cluster.Replicator, replica string) Fault {
	var had int64
	return Fault{
		F: CutReplicationF, Target: replica, Plan: "the link from its master is cut",
		Start: func(ctx context.Context) (_ string, err error) {
			if err := c.CutReplication(ctx, replica); err != nil {
				return "", err
			}
			had, _, err = c.Offsets(ctx, replica)
			return "", err
		},
		Stop: func(ctx context.Context) (string, error) {
			have, sent, err := c.Offsets(ctx, replica)
			if err != nil {
				return "", err
			}
			return "link restored; " + stream(had, have, sent), c.HealReplication(ctx, replica)
		},
	}
}

// promote makes replica the master of its shard, as a failover does, and looks which keys of
// the lock it has. What had not reached it is lost.
func promote(c cluster.Cluster, r cluster.Replicator, replica string, lock cluster.Place) Fault {
	return Fault{
		F: PromoteF, Target: replica, Plan: "failover to it begins",
		Start: func(ctx context.Context) (string, error) {
			have, sent, err := r.Offsets(ctx, replica)
			if err != nil {
				return "", err
			}
			if err := r.Promote(ctx, replica); err != nil {
				return "", err
			}
			seen := fmt.Sprintf("it is the master now, has %d of %d of the old one's stream", have, sent)
			if len(lock.Names) == 0 {
				return seen, nil
			}
			keys, err := c.Inspect(ctx, replica, lock.Database, lock.Names...)
			if err != nil {
				return "", err
			}
			var known []string
			for _, k := range keys {
				if k.Exists {
					known = append(known, k.Key)
				}
			}
			if len(known) == 0 {
				return seen + ", and knows nothing of " + lock.String(), nil
			}
			return seen + ", and knows " + strings.Join(known, ", "), nil
		},
	}
}

func replicationKind() Kind {
	return Kind{
		Name: "replication", Word: "cut-replication",
		Title: "the link from a master to its replica is cut", F: CutReplicationF, Spares: true, Replicas: 1, Unsupported: needsReplica,
		Hits:   HitsReplica,
		Begins: "the link from the master to its replica{nth} is cut",
		Ends:   "the link from the master to its replica is restored",
		Make: func(s Scene, t Target) (Fault, error) {
			c, err := capable[cluster.Replicator](s, wantReplicas)
			return cutReplication(c, t.Replica), err
		},
		Pick: pickReplica,
	}
}

// promoteKind is for schedules alone.
func promoteKind() Kind {
	return Kind{
		Name: "promote", Title: "a replica is made the master, and the old one lives on", F: PromoteF, AtOnce: true, Replicas: 1, Promotes: true, Unsupported: needsReplica,
		Hits:   HitsReplica,
		Begins: "the replica{nth} is promoted",
		Make: func(s Scene, t Target) (Fault, error) {
			c, err := capable[cluster.Replicator](s, wantReplicas)
			return promote(s.Cluster, c, t.Replica, s.Kept), err
		},
	}
}
