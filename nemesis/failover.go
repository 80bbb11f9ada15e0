package nemesis

import (
	"context"
	"errors"
	"fmt"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/redis/cluster"
)

// FailoverF is a master that dies, and its replica that takes over.
const FailoverF histories.F = "failover"

// replicated is a deployment whose master can die and be succeeded.
type replicated interface {
	killable
	cluster.Commander
	cluster.Demoter
}

// failover kills a master and promotes its replica. What had not reached the replica is
// lost (P14). The other replicas follow the new master.
func failover(c replicated, master, replica string, others ...string) Fault {
	return Fault{
		F: FailoverF, Target: master, Plan: "kill -9, and its replica takes over",
		Start: func(ctx context.Context) (string, error) {
			if err := c.Kill(ctx, master); err != nil {
				return "", err
			}
			if err := seeDead(c, master); err != nil {
				return "", err
			}
			have, sent, err := c.Offsets(ctx, replica)
			if err != nil {
				return "", err
			}
			if err := c.Promote(ctx, replica); err != nil {
				return "", err
			}
			if next := c.Primary(0); next != replica {
				return "", fmt.Errorf("want %s to be the master, found %s", replica, next)
			}
			seen := fmt.Sprintf("%s is the master now, has %d of %d of the old one's stream", replica, have, sent)
			for _, o := range others {
				if _, err := c.Demote(ctx, o); err != nil {
					return seen, err
				}
				seen += ", and " + o + " follows it"
			}
			return seen, seeWrites(ctx, c, replica)
		},
	}
}

// successor is the first living node that follows the living master of the first shard.
func successor(c cluster.Cluster) (master, replica string, ok bool) {
	master, replicas := followers(c)
	if len(replicas) == 0 {
		return "", "", false
	}
	return master, replicas[0], true
}

// followers are the living master of the first shard and the living nodes that follow it.
func followers(c cluster.Cluster) (master string, replicas []string) {
	d, ok := c.(cluster.Demoter)
	master = c.Primary(0)
	if !ok || !c.Alive(master) {
		return master, nil
	}
	for _, n := range c.Nodes() {
		if c.Alive(n.Name) && d.Master(n.Name) == master {
			replicas = append(replicas, n.Name)
		}
	}
	return master, replicas
}

func needsReplica(c cluster.Cluster) error {
	if _, ok := c.(replicated); !ok {
		return errors.New("it has no replication that can fail over")
	}
	return nil
}

func failoverKind() Kind {
	return Kind{
		Name: "failover", Title: "a master dies and its replica takes over, once per replica", F: FailoverF, AtOnce: true, Replicas: 1, Promotes: true, Unsupported: needsReplica,
		Hits:   HitsReplica,
		Begins: "the master dies, and its replica{nth} is promoted",
		Make: onSuccession(wantFailover, func(_ Scene, c replicated, master, replica string, others []string) Fault {
			return failover(c, master, replica, others...)
		}),
		Pick: pickReplica,
	}
}
