package workloads

import (
	"context"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/player"
	"github.com/lockbench/lockbench/locks"
)

func readWriteKind() Kind {
	return Kind{
		Name: "readwrite", Title: "N clients, sometimes readers and sometimes writers: readers share, writers exclude",
		Lock: "rw-hash", Capability: "has readers and writers", Can: "share",
		Serves: func(s locks.Spec) bool { return s.ReadWrite },
		New:    func(l Load) player.Workload { return readWriteLoad{l} },
	}
}

// readWriteLoad mixes readers and writers: in each round a client draws whether it reads or
// writes, by a share of its own that it drew before. A reader reads the register twice and
// must see the same, a writer increments it by read and write.
type readWriteLoad struct{ Load }

// Shares reports whether the lock must have readers and writers.
func (readWriteLoad) Shares() bool { return true }

// Run lets the clients go and waits for all of them.
func (w readWriteLoad) Run(ctx context.Context, s *player.Stage) error {
	shares := map[*player.Client]float64{}
	for _, c := range s.Clients {
		shares[c] = 0.25 + c.Rand.Float64()/2
	}
	return w.play(ctx, s, func(ctx context.Context, p *client, key string) error {
		if p.Rand.Float64() < shares[p.Client] {
			return readTwice(ctx, p, key)
		}
		return contend(ctx, p, key)
	})
}

func readTwice(ctx context.Context, p *client, key string) error {
	if err := p.await(ctx, histories.Shared, key); err != nil {
		return err
	}
	_ = p.Read(ctx)
	mayGoOn, err := p.work(ctx, p.section)
	if err != nil {
		return err
	}
	if mayGoOn {
		_ = p.Read(ctx)
	}
	_ = p.Release(ctx)
	return nil
}
