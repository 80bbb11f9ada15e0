package workloads

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/lockbench/lockbench/internal/player"
	"github.com/lockbench/lockbench/locks"
	"github.com/lockbench/lockbench/nemesis"
)

func swarmKind() Kind {
	return Kind{
		Name: "swarm", Title: "N clients do all that the lock offers: each run, by its seed, a part of it (swarm testing)",
		Lock: "setnx-px-lua", Leases: hanging + 3, // others get the lock after a holder that hangs
		New: func(l Load) player.Workload { return swarmLoad{Load: l} },
	}
}

// swarmLoad is swarm testing: a run offers its clients some of all acts, and another run others.
// Many faults of locks show only where acts that hide them are left out (Groce and others, Swarm
// Testing, ISSTA 2012). What a run offers is drawn by its seed, or by Load.Like; see choice.
type swarmLoad struct {
	Load
	kinds  []nemesis.Kind
	choice choice
}

// Under returns the load under random faults.
func (w swarmLoad) Under(kinds []nemesis.Kind) player.Workload {
	w.kinds = kinds
	return w
}

// Drawn returns the load as a seed draws it for a lock, and how it is set up.
func (w swarmLoad) Drawn(seed uint64, lock locks.Spec) (player.Workload, player.Setup) {
	if w.Like > 0 {
		seed = w.Like
	}
	w.choice = choose(seed, lock, len(w.kinds) > 0)
	setup := player.Setup{Told: "clients of this run: " + w.choice.String()}
	if w.choice.has(threads) && w.N > 1 {
		setup.Threads = 2
	}
	if w.choice.has(queue) {
		setup.Overtaking = 2
	}
	return w, setup
}

// Shares reports whether the lock must have readers and writers.
func (w swarmLoad) Shares() bool { return w.choice.has(share) }

// Reenters reports whether the lock must be one that its holder can acquire again.
func (w swarmLoad) Reenters() bool { return w.choice.has(enter) && w.choice.counts }

// ReleasesTwice reports whether the lock must take a second release.
func (w swarmLoad) ReleasesTwice() bool { return w.choice.has(again) }

// Run lets the clients go, and faults hit them, and waits for all of them.
func (w swarmLoad) Run(ctx context.Context, s *player.Stage) error {
	for _, c := range s.Clients {
		if c.Thread != nil {
			s.Threads++
		}
		if len(w.kinds) > 0 && !w.choice.patient {
			c.Timeout = max(s.TTL/2, 100*time.Millisecond) // clients give up while a fault lasts
		}
	}
	faulty, stop := context.WithCancel(ctx)
	defer stop()
	var struck error
	var wg sync.WaitGroup
	if len(w.kinds) > 0 {
		wg.Go(func() { struck = (&striker{Stage: s, kinds: w.kinds, choice: w.choice}).run(faulty) })
	}
	half := s.Prober.Now() + w.Limit/2
	err := w.play(ctx, s, func(ctx context.Context, p *client, key string) error {
		alone := w.choice.has(solo) && w.Limit > 0 && p.Now() > half
		if alone && p.Worker > 0 {
			return errEnough
		}
		return w.round(ctx, p, key, alone)
	})
	stop()
	wg.Wait()
	return errors.Join(err, struck)
}
