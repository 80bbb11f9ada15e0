package nemesis

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"
)

// Random starts and stops faults of the given kinds at random instants until ctx ends.
// Faults overlap each other, but of one kind, and on one target, there is one at a time.
// What is in force at the end is left to Injector.HealAll.
type Random struct {
	Kinds []Kind
	Scene Scene
	Rand  *rand.Rand
	Sleep func(context.Context, time.Duration) error
	// Interval and Duration are the mean time between faults of a kind and the mean
	// length of a fault.
	Interval, Duration time.Duration
}

// turn is when a kind acts next.
type turn struct {
	kind   Kind
	in     time.Duration
	target string // of the fault in force; empty: none is
}

// Run drives i. An error means that the harness could not bring about or heal a fault.
func (n Random) Run(ctx context.Context, i *Injector) error {
	turns := make([]*turn, len(n.Kinds))
	for k, kind := range n.Kinds {
		turns[k] = &turn{kind: kind, in: n.draw(n.Interval)}
	}
	for len(turns) > 0 {
		next := turns[0]
		for _, t := range turns[1:] {
			if t.in < next.in {
				next = t
			}
		}
		wait := next.in
		if n.Sleep(ctx, wait) != nil {
			return nil // the run is over
		}
		for _, t := range turns {
			t.in -= wait
		}
		// What has begun is finished: a server must not be left half changed.
		if err := n.act(context.WithoutCancel(ctx), i, next, turns); err != nil {
			return err
		}
	}
	return nil
}

func (n Random) act(ctx context.Context, i *Injector, t *turn, all []*turn) error {
	if t.target != "" {
		target := t.target
		t.target, t.in = "", n.draw(n.Interval)
		return i.Stop(ctx, t.kind.F, target)
	}
	fault, ok := t.kind.Draw(n.Scene, n.Rand)
	if !ok || slices.ContainsFunc(all, func(o *turn) bool { return o.target == fault.Target }) {
		t.in = n.draw(n.Interval)
		return nil
	}
	if err := i.Start(ctx, fault); err != nil {
		return err
	}
	if t.in = n.draw(n.Interval); fault.Stop != nil {
		t.target, t.in = fault.Target, n.draw(n.Duration)
		if t.kind.Brief {
			t.in /= 50
		}
		if t.kind.Longest > 0 {
			t.in = min(t.in, t.kind.Longest)
		}
	}
	return nil
}

// draw is a time around mean, never 0.
func (n Random) draw(mean time.Duration) time.Duration {
	return mean/4 + time.Duration(n.Rand.Int64N(int64(mean)*3/2))
}
