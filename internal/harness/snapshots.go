package harness

import (
	"context"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/player"
	"github.com/lockbench/lockbench/internal/redis/cluster"
	"github.com/lockbench/lockbench/internal/resource"
	"github.com/lockbench/lockbench/internal/schedule"
)

// Snapshot is what there is to see when a step of a script has been done. It is taken from
// outside: no client notices, nothing of it is in the history, and nothing is judged by it.
type Snapshot struct {
	Step      schedule.Step // the zero value: the end of the run, after its epilogue
	At        time.Duration
	Events    int                  // how many had been recorded
	Exchanges []histories.Exchange // what had crossed the wire, as far as it had come
	Nodes     []NodeState
	Simulated bool // a fault that began with the step only looks like one
}

// NodeState is what a node held.
type NodeState struct {
	cluster.Node
	Primary bool // it serves a shard
	Alive   bool
	Silent  bool               // it is alive and does not answer
	Keys    []cluster.KeyState // of the lock, or of the register; absent ones too
}

// snapshots keeps a Snapshot of each step, for those who tell a run step by step.
type snapshots struct {
	on   bool
	take func(ctx context.Context, step schedule.Step) error
	kept []Snapshot

	simulated int // faults of the snapshots
}

// watch takes a snapshot after each step on s.
func (shots *snapshots) watch(s *player.Stage, env environment, now func() time.Duration) {
	if !shots.on {
		return
	}
	var register []string
	for _, key := range s.Keys {
		register = append(register, key.Name+resource.KeySuffix)
	}
	shots.take = func(ctx context.Context, step schedule.Step) error {
		shot := Snapshot{
			Step: step, At: now(), Events: env.recorder.Len(), Exchanges: env.commands.exchanges(),
			Simulated: s.Nemesis.Simulated() > shots.simulated,
		}
		shots.simulated = s.Nemesis.Simulated()
		serving := map[string]bool{}
		for shard := range s.Shards {
			serving[s.Cluster.Primary(shard)] = true
		}
		for _, node := range s.Cluster.Nodes() {
			place := s.Kept()
			if node.Role == cluster.Register {
				place = cluster.Place{Names: register}
			}
			state, err := look(ctx, s.Cluster, node, place)
			if err != nil {
				return err
			}
			state.Primary = serving[node.Name]
			shot.Nodes = append(shot.Nodes, state)
		}
		shots.kept = append(shots.kept, shot)
		return nil
	}
	s.Done = func(ctx context.Context, step schedule.Step) error { return shots.take(ctx, step) }
}

// end takes the last snapshot.
func (shots *snapshots) end(ctx context.Context) error {
	if !shots.on {
		return nil
	}
	return shots.take(ctx, schedule.Step{})
}

// patience is how long a node may take to answer a look.
const patience = time.Second

func look(ctx context.Context, c cluster.Cluster, node cluster.Node, place cluster.Place) (NodeState, error) {
	state := NodeState{Node: node, Alive: c.Alive(node.Name)}
	if !state.Alive {
		return state, nil
	}
	patient, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var err error
	state.Keys, err = c.Inspect(patient, node.Name, place.Database, place.Names...)
	switch {
	case err == nil || ctx.Err() != nil:
		return state, err
	case patient.Err() != nil:
		state.Silent = true
		return state, nil
	}
	return state, err
}
