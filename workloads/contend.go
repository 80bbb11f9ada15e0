package workloads

import (
	"context"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/player"
)

func contendKind() Kind {
	return Kind{
		Name: "contend", Title: "N clients acquire, increment the protected register, release, with random think times",
		Lock: "setnx-px-lua",
		New:  func(l Load) player.Workload { return contendLoad{l} },
	}
}

// contendLoad is the plainest load: a client acquires the lock, increments the register by
// read and write, and releases. At times it extends its lease in between.
type contendLoad struct{ Load }

// Run lets the clients go and waits for all of them.
func (w contendLoad) Run(ctx context.Context, s *player.Stage) error { return w.play(ctx, s, contend) }

func contend(ctx context.Context, p *client, key string) error {
	if err := p.await(ctx, histories.Exclusive, key); err != nil {
		return err
	}
	_ = p.Read(ctx) // recorded, as all calls are
	mayGoOn, err := p.work(ctx, p.section)
	if err != nil {
		return err
	}
	if mayGoOn {
		_ = p.Write(ctx)
	}
	_ = p.Release(ctx)
	return nil
}
