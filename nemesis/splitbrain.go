package nemesis

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/lockbench/lockbench/cluster"
	"github.com/lockbench/lockbench/histories"
)

// SplitBrainF is a shard with two masters.
const SplitBrainF histories.F = "split-brain"

// Split is a shard that falls apart.
type Split struct {
	Master, Replica string
	Others          []string // other replicas of Master: they stay with it
	// Stay are the clients that reach the old master only. Leave are those that reach the
	// promoted replica only.
	Stay, Leave []Victim
	Kept        cluster.Place // to be looked for on both sides
	Clock       Clock         // keeps apart what happens to different clients
}

// SplitBrain cuts the master off from its replica and from some clients. The replica is
// promoted, and both serve their clients (P18). On healing the old master becomes a replica
// of the new one, and what it alone had is thrown away.
func SplitBrain(c cluster.Cluster, d cluster.Demoter, s Split) Fault {
	return Fault{
		F: SplitBrainF, Target: s.Master,
		Plan: fmt.Sprintf("%s cut off from %s and from %s, which is promoted; only %s can reach it",
			s.Master, names(s.Leave), s.Replica, names(s.Stay)),
		Start: func(ctx context.Context) (string, error) {
			if err := d.CutReplication(ctx, s.Replica); err != nil {
				return "", err
			}
			for _, v := range s.Stay {
				v.View.Pin(0, s.Master)
				c.Link(v.Name, s.Replica).Cut()
				if err := apart(ctx, s.Clock); err != nil {
					return "", err
				}
			}
			if err := d.Promote(ctx, s.Replica); err != nil {
				return "", err
			}
			for _, v := range s.Leave {
				c.Link(v.Name, s.Master).Cut()
				if err := apart(ctx, s.Clock); err != nil {
					return "", err
				}
			}
			return "", nil
		},
		Stop: func(ctx context.Context) (string, error) {
			seen, err := bothHold(ctx, c, s)
			if err != nil {
				return "", err
			}
			if err := d.HealReplication(ctx, s.Replica); err != nil {
				return seen, err
			}
			for _, v := range s.Stay {
				c.Link(v.Name, s.Replica).Heal()
				v.View.Unpin(0)
			}
			for _, v := range s.Leave {
				c.Link(v.Name, s.Master).Heal()
			}
			if !c.Alive(s.Master) || c.Primary(0) == s.Master {
				return seen + "; healed", nil
			}
			discarded, err := d.Demote(ctx, s.Master)
			if err != nil {
				return seen, err
			}
			seen += fmt.Sprintf("; healed: %s follows %s and throws away %d of its stream", s.Master, c.Primary(0), discarded)
			for _, o := range s.Others {
				if d.Master(o) != s.Master || !c.Alive(o) {
					continue // it has gone another way meanwhile
				}
				if _, err := d.Demote(ctx, o); err != nil {
					return seen, err
				}
				seen += ", and so does " + o
			}
			return seen, nil
		},
	}
}

// patience is how long a side may take to say what it has. Another fault may have stopped it.
const patience = time.Second

// bothHold says which keys both sides have, and differently.
func bothHold(ctx context.Context, c cluster.Cluster, s Split) (string, error) {
	if !c.Alive(s.Master) || !c.Alive(s.Replica) {
		return "one side has died", nil
	}
	patient, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	old, err := c.Inspect(patient, s.Master, s.Kept.Database, s.Kept.Names...)
	var next []cluster.KeyState
	if err == nil {
		next, err = c.Inspect(patient, s.Replica, s.Kept.Database, s.Kept.Names...)
	}
	switch {
	case err != nil && ctx.Err() == nil && patient.Err() != nil:
		return "at the end one side does not answer", nil
	case err != nil:
		return "", err
	}
	var both []string
	for i, k := range s.Kept.Names {
		if old[i].Exists && next[i].Exists && old[i].Value != next[i].Value {
			both = append(both, k)
		}
	}
	if len(both) == 0 {
		return "at the end no key differs", nil
	}
	return "at the end both sides have " + strings.Join(both, ", ") + ", and not the same", nil
}

func names(victims []Victim) string {
	var all []string
	for _, v := range victims {
		all = append(all, v.Name)
	}
	return strings.Join(all, ", ")
}

func splitBrainKind() Kind {
	return Kind{
		Name: "split-brain", Title: "a master is cut off with some clients, and its replica is promoted for the others", F: SplitBrainF,
		Replicas: 1, Promotes: true, Needs: needsReplica,
		Draw: func(s Scene, r *rand.Rand) (Fault, bool) {
			d, can := s.Cluster.(cluster.Demoter)
			master, replicas := followers(s.Cluster)
			if !can || len(replicas) == 0 {
				return Fault{}, false
			}
			stays := s.client(r) // a holder, if possible
			split := Split{Master: master, Replica: replicas[0], Others: replicas[1:], Stay: []Victim{stays}, Kept: s.Kept, Clock: s.Clock}
			others := slices.DeleteFunc(slices.Clone(s.Clients), func(v Victim) bool { return v.Name == stays.Name })
			for i, v := range others {
				last := i == len(others)-1 && len(split.Leave) == 0 // somebody must leave
				if r.IntN(2) == 0 && !last {
					split.Stay = append(split.Stay, v)
				} else {
					split.Leave = append(split.Leave, v)
				}
			}
			return SplitBrain(s.Cluster, d, split), len(split.Leave) > 0
		},
	}
}
