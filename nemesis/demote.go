package nemesis

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/redis/cluster"
	"github.com/lockbench/lockbench/internal/wire"
)

// DemoteF is a master that becomes a replica while clients still take it for the master.
const DemoteF histories.F = "demote"

// demotable is a deployment whose masters can be made replicas, and asked.
type demotable interface {
	cluster.Demoter
	cluster.Commander
}

// demote promotes a replica and makes the old master a replica of it, and the clients do
// not hear of that: their connections stay, new ones lead to the old master too, and it
// refuses writes with READONLY. The other replicas follow the promoted one. Healing tells the
// clients.
func demote(c demotable, master, replica string, clients []Victim, others ...string) Fault {
	var discarded int64
	var refusal string
	return Fault{
		F: DemoteF, Target: master, Plan: fmt.Sprintf("it becomes a replica of %s, and clients do not hear of it", replica),
		Start: func(ctx context.Context) (_ string, err error) {
			for _, v := range clients {
				v.View.Pin(0, master)
			}
			if err := c.Promote(ctx, replica); err != nil {
				return "", err
			}
			if discarded, err = c.Demote(ctx, master); err != nil {
				return "", err
			}
			for _, o := range others {
				if _, err := c.Demote(ctx, o); err != nil {
					return "", err
				}
			}
			refusal, err = refusesWrites(ctx, c, master)
			return "", err
		},
		Stop: func(context.Context) (string, error) {
			for _, v := range clients {
				v.View.Unpin(0)
			}
			return fmt.Sprintf("it answers writes with %s, and has thrown away %d of its stream; clients see the new master", refusal, discarded), nil
		},
	}
}

// refusesWrites tries a write that would change nothing and returns the code with which it
// is refused.
func refusesWrites(ctx context.Context, c cluster.Commander, node string) (string, error) {
	reply, err := c.Do(ctx, node, "DEL", "lockbench:nothing")
	if err == nil {
		return "", fmt.Errorf("want %s to refuse a write with READONLY, got %v", node, reply)
	}
	var refused wire.ReplyError
	if !errors.As(err, &refused) || !strings.HasPrefix(string(refused), "READONLY ") {
		return "", fmt.Errorf("want %s to refuse a write with READONLY, got %w", node, err)
	}
	code, _, _ := strings.Cut(string(refused), " ")
	return code, nil
}

func demoteKind() Kind {
	return Kind{
		Name: "demote", Title: "a master becomes a replica while clients still take it for the master (READONLY)", F: DemoteF,
		Replicas: 1, Promotes: true,
		Unsupported: func(c cluster.Cluster) error {
			if err := needsReplica(c); err != nil {
				return err
			}
			return needsCommands(c)
		},
		Hits:   HitsReplica,
		Begins: "the master becomes a replica of its replica{nth}, and clients do not hear of it",
		Ends:   "clients hear of the new master",
		Make: onSuccession(wantFailover, func(s Scene, c demotable, master, replica string, others []string) Fault {
			return demote(c, master, replica, s.Clients, others...)
		}),
		Pick: pickReplica,
	}
}
