package workloads

import (
	"context"

	"github.com/lockbench/lockbench/histories"
)

// ReadWrite mixes readers and writers: in each round a client draws whether it reads or
// writes, by a share of its own that it drew before. A reader reads the register twice and
// must see the same, a writer increments it by read and write.
type ReadWrite struct{ Load }

// Run lets the clients go and waits for all of them.
func (w ReadWrite) Run(ctx context.Context, s *Stage) error {
	shares := map[*Client]float64{}
	for _, c := range s.Clients {
		shares[c] = 0.25 + c.Rand.Float64()/2
	}
	return w.play(ctx, s, func(ctx context.Context, p *player, key string) error {
		if p.Rand.Float64() < shares[p.Client] {
			return readTwice(ctx, p, key)
		}
		return contend(ctx, p, key)
	})
}

func readTwice(ctx context.Context, p *player, key string) error {
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
