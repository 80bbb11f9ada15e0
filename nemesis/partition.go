package nemesis

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/wire"
)

// PartitionF is a client that is cut off.
const PartitionF histories.F = "partition"

// Partition cuts a client off from the servers of the lock: its connections break, and
// new ones are refused, until it is healed. It still reaches the resource.
func Partition(client string, links []*wire.Link, clock Clock) Fault {
	broken := 0
	return Fault{
		F: PartitionF, Target: client, Plan: "client is cut off from the lock's servers",
		Start: func(ctx context.Context) (string, error) {
			for _, l := range links {
				broken += l.Cut()
				if l.Refuses() == nil {
					return "", fmt.Errorf("want a link of %s that takes no new connections, got one that does", client)
				}
				if err := apart(ctx, clock); err != nil {
					return "", err
				}
			}
			return "", nil
		},
		Stop: func(context.Context) (string, error) {
			for _, l := range links {
				l.Heal()
			}
			return count(broken, "connection") + " broke, and no new one was taken", nil
		},
	}
}

// PartitionFrom is Partition from some of the servers of the lock, to which links lead.
func PartitionFrom(client string, nodes []string, links []*wire.Link, clock Clock) Fault {
	f := Partition(client, links, clock)
	f.Plan = "client is cut off from " + strings.Join(nodes, ", ")
	return f
}

func partitionKind() Kind {
	return Kind{
		Name: "partition", Title: "a client is cut off from the lock's servers", F: PartitionF, Client: true, Needs: anywhere,
		Draw: func(s Scene, r *rand.Rand) (Fault, bool) {
			c := s.client(r)
			return Partition(c.Name, s.links(c.Name), s.Clock), true
		},
	}
}
