package nemesis

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/redis/cluster"
)

// SplitBrainF is a shard with two masters.
const SplitBrainF histories.F = "split-brain"

// split is a shard that falls apart.
type split struct {
	master, replica string
	others          []string // other replicas of master: they stay with it
	// stay are the clients that reach the old master only. leave are those that reach the
	// promoted replica only.
	stay, leave []Victim
	kept        cluster.Place // to be looked for on both sides
	clock       Clock         // keeps apart what happens to different clients
}

// splitBrain cuts the master off from its replica and from some clients. The replica is
// promoted, and both serve their clients (P18). On healing the old master becomes a replica
// of the new one, and what it alone had is thrown away.
func splitBrain(c cluster.Cluster, d cluster.Demoter, s split) Fault {
	return Fault{
		F: SplitBrainF, Target: s.master,
		Plan: fmt.Sprintf("%s cut off from %s and from %s, which is promoted; only %s can reach it",
			s.master, names(s.leave), s.replica, names(s.stay)),
		Start: func(ctx context.Context) (string, error) {
			if err := d.CutReplication(ctx, s.replica); err != nil {
				return "", err
			}
			for _, v := range s.stay {
				v.View.Pin(0, s.master)
				c.Link(v.Name, s.replica).Cut()
				if err := apart(ctx, s.clock); err != nil {
					return "", err
				}
			}
			if err := d.Promote(ctx, s.replica); err != nil {
				return "", err
			}
			for _, v := range s.leave {
				c.Link(v.Name, s.master).Cut()
				if err := apart(ctx, s.clock); err != nil {
					return "", err
				}
			}
			return "", nil
		},
		Stop: func(ctx context.Context) (string, error) { return reunite(ctx, c, d, s) },
	}
}

// reunite heals what splitBrain cut, and says what both sides had and what is thrown away of it.
func reunite(ctx context.Context, c cluster.Cluster, d cluster.Demoter, s split) (string, error) {
	seen, err := bothHold(ctx, c, s)
	if err != nil {
		return "", err
	}
	if err := d.HealReplication(ctx, s.replica); err != nil {
		return seen, err
	}
	for _, v := range s.stay {
		c.Link(v.Name, s.replica).Heal()
		v.View.Unpin(0)
	}
	for _, v := range s.leave {
		c.Link(v.Name, s.master).Heal()
	}
	if !c.Alive(s.master) || c.Primary(0) == s.master {
		return seen + "; healed", nil
	}
	discarded, err := d.Demote(ctx, s.master)
	if err != nil {
		return seen, err
	}
	seen += fmt.Sprintf("; healed: %s follows %s and throws away %d of its stream", s.master, c.Primary(0), discarded)
	for _, o := range s.others {
		if d.Master(o) != s.master || !c.Alive(o) {
			continue // it has gone another way meanwhile
		}
		if _, err := d.Demote(ctx, o); err != nil {
			return seen, err
		}
		seen += ", and so does " + o
	}
	return seen, nil
}

// patience is how long a side may take to say what it has. Another fault may have stopped it.
const patience = time.Second

// bothHold says which keys both sides have, and differently.
func bothHold(ctx context.Context, c cluster.Cluster, s split) (string, error) {
	if !c.Alive(s.master) || !c.Alive(s.replica) {
		return "one side has died", nil
	}
	patient, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	old, err := c.Inspect(patient, s.master, s.kept.Database, s.kept.Names...)
	var next []cluster.KeyState
	if err == nil {
		next, err = c.Inspect(patient, s.replica, s.kept.Database, s.kept.Names...)
	}
	switch {
	case err != nil && ctx.Err() == nil && patient.Err() != nil:
		return "at the end one side does not answer", nil
	case err != nil:
		return "", err
	}
	var both []string
	for i, k := range s.kept.Names {
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

// makeSplitBrain makes all clients leave the master but for those of the target.
func makeSplitBrain(s Scene, t Target) (Fault, error) {
	d, err := capable[cluster.Demoter](s, "have two masters of one shard")
	if err != nil {
		return Fault{}, err
	}
	master, replicas := followers(s.Cluster)
	if len(replicas) == 0 {
		return Fault{}, fmt.Errorf("want a living replica of %s, found none", master)
	}
	split := split{master: master, replica: replicas[0], others: replicas[1:], kept: s.Kept, clock: s.Clock}
	for _, name := range t.Clients {
		v, err := s.named(name)
		if err != nil {
			return Fault{}, err
		}
		split.stay = append(split.stay, v)
	}
	for _, v := range s.Clients {
		if !slices.Contains(t.Clients, v.Name) {
			split.leave = append(split.leave, v)
		}
	}
	return splitBrain(s.Cluster, d, split), nil
}

func splitBrainKind() Kind {
	return Kind{
		Name: "split-brain", Title: "a master is cut off with some clients, and its replica is promoted for the others", F: SplitBrainF,
		Replicas: 1, Promotes: true, Unsupported: needsReplica,
		Hits:   HitsClient,
		Begins: "the master is cut off with {client}, and its replica is promoted for everybody else",
		Ends:   "the old master becomes a replica of the new one, and everybody reaches both",
		Make:   makeSplitBrain,
		Pick: func(s Scene, r *rand.Rand) (Target, bool) {
			if _, _, ok := successor(s.Cluster); !ok {
				return Target{}, false
			}
			stays := s.client(r) // a holder, if possible
			t := Target{Clients: []string{stays.Name}}
			others := slices.DeleteFunc(slices.Clone(s.Clients), func(v Victim) bool { return v.Name == stays.Name })
			leave := 0
			for i, v := range others {
				last := i == len(others)-1 && leave == 0 // somebody must leave
				if r.IntN(2) == 0 && !last {
					t.Clients = append(t.Clients, v.Name)
				} else {
					leave++
				}
			}
			return t, leave > 0
		},
	}
}
