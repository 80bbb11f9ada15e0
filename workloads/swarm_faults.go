package workloads

import (
	"context"
	"time"

	"github.com/lockbench/lockbench/internal/player"
	"github.com/lockbench/lockbench/internal/schedule"
	"github.com/lockbench/lockbench/internal/wire"
	"github.com/lockbench/lockbench/nemesis"
)

// striker lets random faults come and go, one after the other: half of the time at any instant, and half
// of the time when a client sends the command that decides, which is held up meanwhile.
type striker struct {
	*player.Stage
	kinds  []nemesis.Kind
	choice choice
}

// run strikes until ctx ends. What is in force then is left to Injector.HealAll. An error means that the
// harness could not bring about or heal a fault.
func (s *striker) run(ctx context.Context) error {
	for s.Clock.Sleep(ctx, s.span(s.TTL/2)) == nil {
		strike := s.anywhen
		if s.Rand.IntN(2) == 0 {
			strike = s.anchored
		}
		if err := strike(ctx); err != nil {
			return err
		}
	}
	return nil
}

// span is a time around mean, never 0.
func (s *striker) span(mean time.Duration) time.Duration {
	return mean/4 + time.Duration(s.Rand.Int64N(int64(mean)*3/2))
}

// lasting is how long a fault lasts: about a tenth of a lease, or about one.
func (s *striker) lasting() time.Duration {
	if s.Rand.IntN(3) == 0 {
		return s.span(s.TTL / 10)
	}
	return s.span(s.TTL * 5 / 4)
}

// scene is what faults can hit: threads share what a fault of a client hits, so that they are spared.
func (s *striker) scene() nemesis.Scene {
	scene := s.Stage.Scene()
	if free := scene.Clients[s.Threads:]; len(free) > 0 {
		scene.Clients = free
	}
	return scene
}

func (s *striker) kind() nemesis.Kind { return s.kinds[s.Rand.IntN(len(s.kinds))] }

// anywhen lets a fault come at this instant.
func (s *striker) anywhen(ctx context.Context) error {
	k := s.kind()
	if k.Hits <= nemesis.HitsConnection && s.Threads == len(s.Clients) {
		return nil
	}
	fault, ok := k.Draw(s.scene(), s.Rand)
	if !ok {
		return nil
	}
	return s.inForce(ctx, k, fault)
}

// inForce lets a fault come and go.
func (s *striker) inForce(ctx context.Context, k nemesis.Kind, fault nemesis.Fault) error {
	// What has begun is finished: a server must not be left half changed.
	whole := context.WithoutCancel(ctx)
	if err := s.Nemesis.Start(whole, fault); err != nil || fault.Stop == nil {
		return err
	}
	d := s.lasting()
	if k.Brief {
		d /= 50
	}
	if k.Longest > 0 {
		d = min(d, k.Longest)
	}
	if s.Clock.Sleep(ctx, d) != nil {
		return nil
	}
	return s.Nemesis.Stop(whole, fault.F, fault.Target)
}

// anchored waits for a client to send the command that decides, holds it up, or the reply to it, and half
// of the time lets a fault come meanwhile.
func (s *striker) anchored(ctx context.Context) error {
	c, k := s.Clients[s.Rand.IntN(len(s.Clients))], s.kind()
	node := s.Cluster.Primary(s.Rand.IntN(s.Shards))
	m, err := s.Match(node, schedule.Step{What: s.choice.anchor, Reply: s.choice.reply && s.choice.anchor == schedule.Takes})
	if err != nil || !s.Cluster.Alive(node) {
		return nil //nolint:nilerr // nobody knows where the lock is kept, and no command is known to decide
	}
	if k.Hits == nemesis.HitsConnection {
		return s.make(ctx, k, s.scene(), nemesis.Target{
			Clients: []string{c.Name}, Nodes: []string{node}, Of: func(string) wire.Match { return m },
			Keys: s.Kept(),
		})
	}
	link := s.Cluster.Link(s.Process(c), node)
	hold := link.HoldRequest
	if s.choice.reply {
		hold = link.HoldReply
	}
	rule := hold(m)
	defer rule.Release() // does nothing if it has been released
	if !s.met(ctx, rule) {
		return nil
	}
	held := nemesis.Hold(c.Name, rule)
	if s.Nemesis.Start(context.WithoutCancel(ctx), held) != nil {
		return nil // its connection has ended since
	}
	if s.Rand.IntN(2) == 0 {
		if err := s.beside(ctx, k, c); err != nil {
			return err
		}
	}
	if s.Rand.IntN(2) == 0 && s.Clock.Sleep(ctx, s.lasting()) != nil {
		return nil
	}
	return s.Nemesis.Stop(context.WithoutCancel(ctx), held.F, held.Target)
}

// met waits for a lease until a rule holds something up.
func (s *striker) met(ctx context.Context, rule *wire.Hold) bool {
	for end := s.Clock.Now().Add(s.TTL); s.Clock.Now().Before(end); {
		select {
		case <-rule.Seen():
			return rule.Holding()
		default:
		}
		if s.Clock.Sleep(ctx, max(s.TTL/200, time.Millisecond)) != nil {
			return false
		}
	}
	return false
}

// beside lets a fault come and go while a command of a client is held up. One of a client hits that one.
func (s *striker) beside(ctx context.Context, k nemesis.Kind, c *player.Client) error {
	scene := s.scene()
	t, ok := k.Pick(scene, s.Rand)
	if !ok || k.Hits == nemesis.HitsClient && c.Thread != nil {
		return nil
	}
	if k.Hits == nemesis.HitsClient {
		t.Clients = []string{c.Name}
	}
	return s.make(ctx, k, scene, t)
}

// make lets a fault come and go that hits a target, if it is there to be hit.
func (s *striker) make(ctx context.Context, k nemesis.Kind, scene nemesis.Scene, t nemesis.Target) error {
	fault, err := k.Make(scene, t)
	if err != nil {
		return nil //nolint:nilerr // there is nothing to hit just now
	}
	return s.inForce(ctx, k, fault)
}
