package nemesis

import (
	"context"
	"math/rand/v2"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/wire"
)

// PartitionF is a client that is cut off.
const PartitionF histories.F = "partition"

// Partition cuts a client off from the servers of the lock: its connections break, and
// new ones are refused, until it is healed. It still reaches the resource.
func Partition(client string, links []*wire.Link) Fault {
	return Fault{
		F: PartitionF, Target: client, Plan: "client is cut off from the lock's servers",
		Start: func(context.Context) (string, error) {
			for _, l := range links {
				l.Cut()
			}
			return "", nil
		},
		Stop: func(context.Context) (string, error) {
			for _, l := range links {
				l.Heal()
			}
			return "client reaches them again", nil
		},
	}
}

func partitionKind() Kind {
	return Kind{
		Name: "partition", Title: "a client is cut off from the lock's servers", F: PartitionF, Client: true, Needs: anywhere,
		Draw: func(s Scene, r *rand.Rand) (Fault, bool) {
			c := s.client(r)
			return Partition(c.Name, s.links(c.Name)), true
		},
	}
}
