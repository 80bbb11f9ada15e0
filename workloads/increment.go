package workloads

import (
	"context"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/player"
)

func incrementKind() Kind {
	return Kind{
		Name: "increment", Title: "N clients increment a shared counter under the lock, which must show all increments at the end",
		Lock: "setnx-px-lua",
		New:  func(l Load) player.Workload { return incrementLoad{l} },
	}
}

// incrementLoad counts: a client acquires the lock, increments a shared counter in one call,
// and releases. At the end the counter is read, and must show every increment that was
// accepted. The counter does not help: an increment is a read and a write, as in a program
// that trusts its lock.
type incrementLoad struct{ Load }

// Run lets the clients go and waits for all of them.
func (w incrementLoad) Run(ctx context.Context, s *player.Stage) error {
	s.Last = func(ctx context.Context, prober *player.Client, _ string) { _ = prober.Read(ctx) }
	return w.play(ctx, s, increment)
}

func increment(ctx context.Context, p *client, key string) error {
	if err := p.await(ctx, histories.Exclusive, key); err != nil {
		return err
	}
	mayGoOn, err := p.prolong(ctx, p.section)
	if err != nil {
		return err
	}
	if mayGoOn {
		_ = p.Incr(ctx, p.draw(p.section))
	}
	_ = p.Release(ctx)
	return nil
}
