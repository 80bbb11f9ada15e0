package nemesis

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/redis/cluster"
)

// DropReplicationF is a network that loses what a master and its replica send.
const DropReplicationF histories.F = "drop-replication"

// probeChannel is published to, for a master to send something to its replicas.
const probeChannel = "lockbench:probe"

// replicaNetwork is a deployment whose network can lose packets between a master and
// its replica.
type replicaNetwork interface {
	network
	cluster.Replicator
}

// dropReplication loses the packets between a master and its replica, both ways or one.
// Other than with cutReplication no connection ends: until repl-timeout both take the
// link for up. toReplica keeps what is written from the replica; toMaster keeps from the
// master what the replica has, so that WAIT counts it out.
func dropReplication(c replicaNetwork, master, replica string, toReplica, toMaster bool) Fault {
	var paths []cluster.Path
	plan := "packets between it and its master are lost"
	if toReplica {
		paths = append(paths, cluster.Path{From: master, To: replica})
	} else {
		plan = "packets from it to its master are lost"
	}
	if toMaster {
		paths = append(paths, cluster.Path{From: replica, To: master})
	} else {
		plan = "packets to it from its master are lost"
	}
	return losing(Fault{F: DropReplicationF, Target: replica, Plan: plan}, c, paths,
		func(ctx context.Context) error {
			short, cancel := context.WithTimeout(ctx, silence)
			defer cancel()
			// A master that is silent itself does not take it; then the replica's own word,
			// once a second, is waited for.
			_, _ = c.Do(short, master, "PUBLISH", probeChannel, "")
			return nil
		},
		func(ctx context.Context) (string, error) {
			ctx, cancel := context.WithTimeout(ctx, networkLimit)
			defer cancel()
			have, sent, err := c.Offsets(ctx, replica)
			return fmt.Sprintf("it had %d of %d of its master's stream", have, sent), err
		},
		func(context.Context) (string, error) { return "", nil }) // it catches up when TCP sends again
}

func dropReplicationKind() Kind {
	return Kind{
		Name: "drop-replication", Title: "packets between a master and its replica are lost, both ways or one", F: DropReplicationF, Replicas: 1, Virtual: "replication",
		Unsupported: func(c cluster.Cluster) error {
			if _, ok := c.(replicaNetwork); !ok {
				return errNoNetwork
			}
			return nil
		},
		Try:    canDrop,
		Means:  func(cluster.Cluster) string { return "iptables DROP in the replica's container" },
		Hits:   HitsReplica,
		Begins: "packets between the master and its replica{nth} are lost",
		Ends:   "packets between the master and its replica arrive again",
		Make: func(s Scene, t Target) (Fault, error) {
			return onSuccession(wantPackets, func(_ Scene, c replicaNetwork, master, replica string, _ []string) Fault {
				return dropReplication(c, master, replica, t.Way != FromIt, t.Way != ToIt)
			})(s, t)
		},
		Pick: func(s Scene, r *rand.Rand) (Target, bool) {
			t, ok := pickReplica(s, r)
			t.Way = []Way{BothWays, FromIt, ToIt}[r.IntN(3)]
			return t, ok
		},
	}
}
