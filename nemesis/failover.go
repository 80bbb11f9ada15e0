package nemesis

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/lockbench/lockbench/cluster"
	"github.com/lockbench/lockbench/histories"
)

// FailoverF is a master that dies, and its replica that takes over.
const FailoverF histories.F = "failover"

// Replicated is a deployment whose master can die and be succeeded.
type Replicated interface {
	cluster.Killer
	cluster.Replicator
}

// Failover kills a master and promotes its replica. What had not reached the replica is
// lost (P14).
func Failover(c Replicated, master, replica string) Fault {
	return Fault{
		F: FailoverF, Target: master, Plan: "kill -9, and its replica takes over",
		Start: func(ctx context.Context) (string, error) {
			if err := c.Kill(ctx, master); err != nil {
				return "", err
			}
			have, sent, err := c.Offsets(ctx, replica)
			if err != nil {
				return "", err
			}
			return fmt.Sprintf("%s is the master now, has %d of %d of the old one's stream", replica, have, sent), c.Promote(ctx, replica)
		},
	}
}

// successor is the living replica that still follows the living master of a shard.
func successor(c cluster.Cluster) (master, replica string, ok bool) {
	for _, n := range c.Nodes() {
		if n.Role == cluster.Replica && c.Alive(n.Name) && c.Alive(n.Of) && c.Primary(0) == n.Of {
			return n.Of, n.Name, true
		}
	}
	return "", "", false
}

func needsReplica(c cluster.Cluster) error {
	if _, ok := c.(Replicated); !ok {
		return errors.New("it has no replication that can fail over")
	}
	return nil
}

func failoverKind() Kind {
	return Kind{
		Name: "failover", Title: "a master dies and its replica takes over, once per replica", F: FailoverF, Replica: true, Needs: needsReplica,
		Draw: func(s Scene, _ *rand.Rand) (Fault, bool) {
			c, can := s.Cluster.(Replicated)
			master, replica, ok := successor(s.Cluster)
			return Failover(c, master, replica), can && ok
		},
	}
}

func replicationKind() Kind {
	return Kind{
		Name: "replication", Title: "the link from a master to its replica is cut", F: CutReplicationF, Replica: true, Needs: needsReplica,
		Draw: func(s Scene, _ *rand.Rand) (Fault, bool) {
			c, can := s.Cluster.(Replicated)
			_, replica, ok := successor(s.Cluster)
			return CutReplication(c, replica), can && ok
		},
	}
}
