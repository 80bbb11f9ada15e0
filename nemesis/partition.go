package nemesis

import (
	"context"
	"fmt"
	"strings"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/wire"
	"github.com/lockbench/lockbench/internal/words"
)

// PartitionF is a client that is cut off.
const PartitionF histories.F = "partition"

// partition cuts a client off from the servers of the lock: its connections break, and
// new ones are refused, until it is healed. It still reaches the resource.
func partition(client string, links []*wire.Link, clock Clock) Fault {
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
			return words.Count(broken, "connection") + " broke, and no new one was taken", nil
		},
	}
}

// partitionFrom is partition from some of the servers of the lock, to which links lead.
func partitionFrom(client string, nodes []string, links []*wire.Link, clock Clock) Fault {
	f := partition(client, links, clock)
	f.Plan = "client is cut off from " + strings.Join(nodes, ", ")
	return f
}

func partitionKind() Kind {
	return Kind{
		Name: "partition", Title: "a client is cut off from the lock's servers", F: PartitionF, Client: true, Unsupported: anywhere,
		Hits:   HitsConnections,
		Begins: "{client} is cut off from {servers}",
		Ends:   "{client} reaches all servers again",
		Make: onClient(func(s Scene, c Victim, t Target) Fault {
			if len(t.Nodes) == 0 {
				return partition(c.Name, s.links(c.Name), s.Clock)
			}
			return partitionFrom(c.Name, t.Nodes, s.linksTo(c.Name, t.Nodes), s.Clock)
		}),
		Pick: pickClient,
	}
}
