package workloads

import (
	"context"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/player"
	"github.com/lockbench/lockbench/locks"
)

func reentrantKind() Kind {
	return Kind{
		Name: "reentrant", Title: "N clients acquire a key several times, one inside the other, and release it as often",
		Lock: "reentrant-hash", Capability: "can be re-entered", Can: "reenter",
		Serves: func(s locks.Spec) bool { return s.Reenters },
		New:    func(l Load) player.Workload { return reentrantLoad{l} },
	}
}

// reentrantLoad nests: a client acquires one key one to depth times, one inside the other, and
// releases it as often, while the others want it, too. It asks the lock how often it holds
// the key when it is all inside, before the last release and after it; it writes the
// register when only the outermost lease is left. An inner acquire may take longer than that
// lease lasts, if its answer is lost; then the client does not write any more.
type reentrantLoad struct{ Load }

// depth is how often a client acquires a key at most.
const depth = 3

// Reenters reports whether the lock must be one that its holder can acquire again.
func (reentrantLoad) Reenters() bool { return true }

// Run lets the clients go and waits for all of them.
func (w reentrantLoad) Run(ctx context.Context, s *player.Stage) error {
	return w.play(ctx, s, reenter)
}

func reenter(ctx context.Context, p *client, key string) error {
	if err := p.await(ctx, histories.Reentrant, key); err != nil {
		return err
	}
	_ = p.Read(ctx)
	part := p.section / (depth + 1) // so that all of them are no longer than a section
	for range p.Rand.IntN(depth) {
		if err := p.think(ctx, part); err != nil {
			return err
		}
		_ = p.AcquireAs(ctx, histories.Reentrant, key, p.stage.TTL)
	}
	_ = p.Count(ctx, key)
	mayGoOn, err := p.work(ctx, part)
	if err != nil {
		return err
	}
	for p.Depth() > 1 {
		_ = p.Release(ctx)
	}
	if err := p.think(ctx, part); err != nil {
		return err
	}
	_ = p.Count(ctx, key)
	if mayGoOn && !p.Overdue() {
		_ = p.Write(ctx)
	}
	_ = p.Release(ctx)
	_ = p.Count(ctx, key)
	return nil
}
