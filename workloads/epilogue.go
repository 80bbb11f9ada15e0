package workloads

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lockbench/lockbench/cluster"
	"github.com/lockbench/lockbench/histories"
)

// Epilogue ends every run the same way: what is broken is healed, living holders
// release, a fresh client must get the lock within TTL + slack, and what the lock's
// servers still hold is written down.
func Epilogue(ctx context.Context, s *Stage) error {
	if err := s.Nemesis.HealAll(ctx); err != nil {
		return err
	}
	for _, c := range s.Clients {
		if err := s.finish(ctx, c); err != nil {
			return err
		}
		if c.Holds() && !c.crashed {
			_ = c.Release(ctx) // recorded
		}
	}
	if err := s.await(ctx, s.Prober, s.TTL+2*s.Slack); err != nil {
		return err
	}
	if s.Prober.Holds() {
		_ = s.Prober.Release(ctx) // recorded
	}
	return s.audit(ctx)
}

// await lets c try until it has the lock, or until d has passed.
func (s *Stage) await(ctx context.Context, c *Client, d time.Duration) error {
	end := c.Clock.Now().Add(d)
	for {
		err := c.Acquire(ctx, s.Key, s.TTL)
		if err == nil || !c.Clock.Now().Before(end) {
			return nil
		}
		if err := s.stop(ctx); err != nil {
			return err
		}
		if err := c.Clock.Sleep(ctx, max(s.TTL/20, 5*time.Millisecond)); err != nil {
			return err
		}
	}
}

// stop says why the run should end.
func (s *Stage) stop(ctx context.Context) error {
	return errors.Join(ctx.Err(), s.Interrupted())
}

// audit records what every living lock server holds under the key.
func (s *Stage) audit(ctx context.Context) error {
	for _, n := range s.Cluster.Nodes() {
		if n.Role == cluster.Register || !s.Cluster.Alive(n.Name) {
			continue
		}
		keys, err := s.Cluster.Inspect(ctx, n.Name, s.LockKeys...)
		if err != nil {
			return fmt.Errorf("audit %s: %w", n.Name, err)
		}
		for _, k := range keys {
			if k.Exists {
				s.Recorder.Record(histories.Event{
					Process: histories.Nemesis, Worker: histories.Nemesis, Type: histories.Info, F: histories.Audit,
					Key: s.Key, Node: n.Name, TTL: k.TTL, Value: k.Value,
				})
			}
		}
	}
	return nil
}
