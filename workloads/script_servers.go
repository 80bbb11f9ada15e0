package workloads

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/lockbench/lockbench/cluster"
	"github.com/lockbench/lockbench/nemesis"
)

// server is a step in which something happens to the servers of some shards, counted from 0,
// one after another. What says it of one or several.
func server(what string, shards []int, do func(ctx context.Context, s *Stage, node string) error) Step {
	return Step{ofShards(shards) + what, func(ctx context.Context, s *Stage) error {
		for _, shard := range shards {
			if shard < 0 || shard >= s.Shards {
				continue // the lock has fewer masters than the scenario was written for
			}
			if err := do(ctx, s, s.Cluster.Primary(shard)); err != nil {
				return err
			}
			if err := s.Clock.Sleep(ctx, 1); err != nil { // apart, for replays
				return err
			}
		}
		return nil
	}}
}

// ofShards names the servers of shards as people count them.
func ofShards(shards []int) string {
	if len(shards) == 1 && shards[0] == 0 {
		return "the first server"
	}
	var numbers []string
	for _, shard := range shards {
		numbers = append(numbers, fmt.Sprint(shard+1))
	}
	if len(shards) == 1 {
		return "server " + numbers[0]
	}
	return "servers " + strings.Join(numbers, ", ")
}

// capability is what of a deployment a step needs.
func capability[T any](s *Stage, what string) (T, error) {
	c, ok := s.Cluster.(T)
	if !ok {
		return c, fmt.Errorf("this backend cannot %s", what)
	}
	return c, nil
}

// ServersDie ends the servers of some shards at once, until ServersComeBack.
func ServersDie(shards ...int) Step {
	return server(": killed", shards, func(ctx context.Context, s *Stage, node string) error {
		c, err := capability[nemesis.Restarter](s, "kill a server and start it again")
		if err != nil {
			return err
		}
		return s.Nemesis.Start(ctx, nemesis.Restart(c, node))
	})
}

// ServersComeBack starts the servers of some shards again, empty.
func ServersComeBack(shards ...int) Step {
	return server(": started again, empty", shards, func(ctx context.Context, s *Stage, node string) error {
		return s.Nemesis.Stop(ctx, nemesis.RestartF, node)
	})
}

// ServerRestarts ends the server of a shard and starts it again, empty.
func ServerRestarts(shard int) Step {
	return both(" dies, and comes back empty", shard, ServersDie(shard), ServersComeBack(shard))
}

// ServerRestartsWithAOF ends the server of a shard, which syncs its append-only file before it
// answers, and starts it again with that file.
func ServerRestartsWithAOF(shard int) Step {
	return server(" dies, and comes back with its append-only file", []int{shard}, func(ctx context.Context, s *Stage, node string) error {
		c, err := capability[cluster.Persister](s, "keep an append-only file")
		if err != nil {
			return err
		}
		if err := s.Nemesis.Start(ctx, nemesis.RestartAOF(c, s.Clock, node, s.Kept())); err != nil {
			return err
		}
		return s.Nemesis.Stop(ctx, nemesis.RestartAOFF, node)
	})
}

// ServerDiesForTTL ends the server of a shard at once, until ServerComesBackAfterTTL.
func ServerDiesForTTL(shard int) Step {
	return server(": killed", []int{shard}, func(ctx context.Context, s *Stage, node string) error {
		c, err := capability[nemesis.Restarter](s, "kill a server and start it again")
		if err != nil {
			return err
		}
		return s.Nemesis.Start(ctx, nemesis.RestartDelayed(c, s.Clock, node, s.TTL))
	})
}

// ServerComesBackAfterTTL starts the server of a shard again, empty, when every lease that it
// had granted is over.
func ServerComesBackAfterTTL(shard int) Step {
	return server(": started again, empty, a TTL after its death", []int{shard}, func(ctx context.Context, s *Stage, node string) error {
		return s.Nemesis.Stop(ctx, nemesis.RestartDelayedF, node)
	})
}

func both(what string, shard int, first, second Step) Step {
	return Step{ofShards([]int{shard}) + what, func(ctx context.Context, s *Stage) error {
		if err := first.Do(ctx, s); err != nil {
			return err
		}
		return second.Do(ctx, s)
	}}
}

// ServerStalls stops the server of a shard: its connections stay open and it answers nothing,
// until ServerGoesOn.
func ServerStalls(shard int) Step {
	return server(" stands still", []int{shard}, func(ctx context.Context, s *Stage, node string) error {
		c, err := capability[nemesis.Stoppable](s, "stop a server")
		if err != nil {
			return err
		}
		return s.Nemesis.Start(ctx, nemesis.Stall(c, node))
	})
}

// ServerGoesOn lets the server of a shard go on.
func ServerGoesOn(shard int) Step {
	return server(" goes on", []int{shard}, func(ctx context.Context, s *Stage, node string) error {
		return s.Nemesis.Stop(ctx, nemesis.StallF, node)
	})
}

// LeaseRunsOut waits for a TTL and the slack: every lease that was granted before is over then
// by any right clock, also on a server that nobody can ask.
func LeaseRunsOut() Step {
	return Step{"the time of the lease runs out", func(ctx context.Context, s *Stage) error {
		return s.Clock.Sleep(ctx, s.TTL+s.Slack)
	}}
}

// KeysEvicted fills the memory of a shard's server, whose policy lets it evict any key, and
// frees it again.
func KeysEvicted(shard int) Step {
	return server(" runs out of memory and evicts what it can", []int{shard}, func(ctx context.Context, s *Stage, node string) error {
		d, err := s.deciding(node)
		if err != nil {
			return err
		}
		there := func(k cluster.KeyState) bool { return k.Exists }
		had := slices.ContainsFunc(d.look(), there)
		if c, ok := s.Cluster.(nemesis.EvictionCommander); ok {
			err = s.Nemesis.Start(ctx, nemesis.SimulatedEviction(c, node))
		} else {
			var c cluster.Commander
			if c, err = capability[cluster.Commander](s, "fill the memory of a server"); err == nil {
				err = s.Nemesis.Start(ctx, nemesis.Evict(c, node))
			}
		}
		if err == nil && (!had || slices.ContainsFunc(d.look(), there)) {
			return &MissedError{Why: fmt.Sprintf("%s had nothing of the lock under %v that was evicted", node, d.place)}
		}
		return err
	})
}

// MemoryFull fills the memory of a shard's server, whose policy is noeviction, until
// MemoryFreed.
func MemoryFull(shard int) Step {
	return server(" runs out of memory and may evict nothing", []int{shard}, func(ctx context.Context, s *Stage, node string) error {
		if c, ok := s.Cluster.(nemesis.MemoryCommander); ok {
			return s.Nemesis.Start(ctx, nemesis.SimulatedOOM(c, node))
		}
		c, err := capability[cluster.Commander](s, "fill the memory of a server")
		if err != nil {
			return err
		}
		return s.Nemesis.Start(ctx, nemesis.OOM(c, node))
	})
}

// MemoryFreed ends MemoryFull.
func MemoryFreed(shard int) Step {
	return server(" has memory again", []int{shard}, func(ctx context.Context, s *Stage, node string) error {
		return s.Nemesis.Stop(ctx, nemesis.OOMF, node)
	})
}

// KeySquatted puts a list under the lock's key on a shard's server, until SquatterLeaves.
func KeySquatted(shard int) Step {
	return server(" gets a list under the lock's key from somebody else", []int{shard}, func(ctx context.Context, s *Stage, node string) error {
		c, err := capability[cluster.Commander](s, "be sent commands past the clients")
		if err != nil {
			return err
		}
		lock, err := s.kept()
		if err != nil {
			return err
		}
		return s.Nemesis.Start(ctx, nemesis.Squatter(c, node, lock))
	})
}

// SquatterLeaves deletes the list of KeySquatted.
func SquatterLeaves(shard int) Step {
	return server(" has the list no more", []int{shard}, func(ctx context.Context, s *Stage, node string) error {
		return s.heal(ctx, nemesis.SquatterF, node)
	})
}

// ScriptsForgotten makes every server of the lock forget its scripts.
func ScriptsForgotten() Step {
	return Step{"the servers forget all scripts", func(ctx context.Context, s *Stage) error {
		c, err := capability[cluster.Commander](s, "be sent commands past the clients")
		if err != nil {
			return err
		}
		for shard := range s.Shards {
			if err := s.Nemesis.Start(ctx, nemesis.ScriptFlush(c, s.Cluster.Primary(shard))); err != nil {
				return err
			}
		}
		return nil
	}}
}

// LockServersAudited writes down what the servers hold under the lock's keys just now.
func LockServersAudited() Step {
	return Step{"somebody looks at what the servers hold", func(ctx context.Context, s *Stage) error { return s.audit(ctx) }}
}
