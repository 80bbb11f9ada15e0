package nemesis

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/redis/cluster"
)

// PartialReplicationF is a replica that falls behind the others and takes over.
const PartialReplicationF histories.F = "partial-replication"

// partialReplication cuts off one of several replicas: the others are fed, so that WAIT 1 is
// satisfied. At its end the wrong one, which knows least, is promoted, and everybody follows
// it: what it had not got is lost, however many others had it (P17).
func partialReplication(d cluster.Demoter, master, wrong string, fed []string) Fault {
	return Fault{
		F: PartialReplicationF, Target: master,
		Plan: fmt.Sprintf("%s is cut off, %s is fed", wrong, strings.Join(fed, ", ")),
		Start: func(ctx context.Context) (string, error) {
			return "", d.CutReplication(ctx, wrong)
		},
		Stop: func(ctx context.Context) (string, error) {
			have, sent, err := d.Offsets(ctx, wrong)
			if err != nil {
				return "", err
			}
			seen := fmt.Sprintf("%s has %d of %d of the stream", wrong, have, sent)
			for _, r := range fed {
				have, sent, err := d.Offsets(ctx, r)
				if err != nil {
					return seen, err
				}
				seen += fmt.Sprintf(", %s %d of %d", r, have, sent)
			}
			if err := d.Promote(ctx, wrong); err != nil {
				return seen, err
			}
			seen += "; " + wrong + " is promoted"
			if err := d.HealReplication(ctx, wrong); err != nil {
				return seen, err
			}
			for _, n := range append([]string{master}, fed...) {
				discarded, err := d.Demote(ctx, n)
				if err != nil {
					return seen, err
				}
				seen += fmt.Sprintf(", %s throws away %d", n, discarded)
			}
			return seen, nil
		},
	}
}

func partialReplicationKind() Kind {
	return Kind{
		Name: "partial-replication", Title: "one of two replicas is cut off, and at the end it is the one that takes over", F: PartialReplicationF,
		Replicas: 2, Promotes: true, Unsupported: needsReplica,
		Hits:   HitsReplica,
		Begins: "the replica{nth} alone is cut off from the master",
		Ends:   "the replica that was cut off is promoted",
		Make: onSuccession(wantFailover, func(_ Scene, d cluster.Demoter, master, replica string, others []string) Fault {
			return partialReplication(d, master, replica, others)
		}),
		Pick: func(s Scene, r *rand.Rand) (Target, bool) {
			_, replicas := followers(s.Cluster)
			if len(replicas) < 2 {
				return Target{}, false
			}
			return Target{Replica: replicas[r.IntN(len(replicas))]}, true
		},
	}
}
