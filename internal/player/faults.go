package player

import (
	"context"
	"errors"
	"time"

	"github.com/lockbench/lockbench/nemesis"
)

// Under returns a workload during which random faults come and go: as it lets them come itself, or
// else UnderFaults.
func Under(w Workload, kinds []nemesis.Kind) Workload {
	if own, ok := w.(interface{ Under([]nemesis.Kind) Workload }); ok {
		return own.Under(kinds)
	}
	return UnderFaults{Workload: w, Kinds: kinds}
}

// UnderFaults is a workload during which random faults come and go. Of each kind there is
// one every TTL or so, and it lasts about two, so that leases end under it.
type UnderFaults struct {
	Workload
	Kinds []nemesis.Kind
}

// Run plays the workload and lets faults hit it.
func (w UnderFaults) Run(ctx context.Context, s *Stage) error {
	random := nemesis.Random{
		Kinds: w.Kinds, Scene: s.Scene(), Rand: s.Rand, Sleep: s.Clock.Sleep,
		Interval: s.TTL, Duration: 2 * s.TTL,
	}
	for _, c := range s.Clients {
		c.Timeout = max(s.TTL/2, 100*time.Millisecond) // clients give up while a fault lasts
	}
	faulty, stop := context.WithCancel(ctx)
	defer stop()
	healed := make(chan error, 1)
	go func() { healed <- random.Run(faulty, s.Nemesis) }()
	err := w.Workload.Run(ctx, s)
	stop()
	return errors.Join(err, <-healed)
}

// Scene is what faults can hit.
func (s *Stage) Scene() nemesis.Scene {
	scene := nemesis.Scene{Cluster: s.Cluster, Shards: s.Shards, Kept: s.Kept(), TTL: s.TTL, Clock: s.Clock}
	for _, c := range s.Clients {
		victim := nemesis.Victim{Name: c.Name, Gate: c.Gate, Thread: c.Thread, View: c.View, Holds: c.Holds, Calls: c.Calls, Memory: c, Process: c.Process}
		if c.Skew != nil {
			victim.Clock = c.Skew
		}
		scene.Clients = append(scene.Clients, victim)
	}
	return scene
}
