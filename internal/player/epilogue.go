package player

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/redis/cluster"
	"github.com/lockbench/lockbench/locks"
	"github.com/lockbench/lockbench/nemesis"
)

// Epilogue ends every run the same way: what is broken is healed, living holders
// release, a fresh client must get the lock on every key within the TTL, or the
// longest that anybody asked for besides, + slack, and what the lock's servers still hold
// is written down. A run on many keys waits so long in vain once only.
func Epilogue(ctx context.Context, s *Stage) error {
	if err := s.Nemesis.HealAll(ctx); err != nil {
		return err
	}
	if s.Hangs.Any() { // it has ended before its time
		return nil
	}
	if err := s.evict(ctx); err != nil {
		return err
	}
	for _, c := range s.Clients {
		if err := s.finish(ctx, c); err != nil {
			missed, ok := errors.AsType[*MissedError](err)
			if !ok {
				return err
			}
			s.miss(missed.Why, missed.Key)
		}
		for c.Holds() && !c.crashed {
			_ = c.Release(ctx) // recorded
		}
	}
	patience := s.longest() + 2*s.Slack
	for _, key := range s.Keys {
		if _, err := s.await(ctx, s.Prober, key.Name, patience); err != nil {
			return err
		}
		if !s.Prober.Holds() {
			patience = 0 // one key in vain is proof enough: the others are asked for once
			continue
		}
		if s.Hangs.Any() {
			return nil
		}
		if s.Last != nil {
			s.Last(ctx, s.Prober, key.Name)
		}
		_ = s.Prober.Release(ctx) // recorded
	}
	if s.Hangs.Any() {
		return nil
	}
	return s.audit(ctx)
}

// longest is the longest that anybody extended a lease to, or may have by default, and at least the TTL.
func (s *Stage) longest() time.Duration {
	longest := s.TTL
	for _, c := range s.Clients {
		longest = max(longest, c.longest)
	}
	return longest
}

// wait is await on the first key, for a step. That no server answered c all the time is a
// *MissedError, unless a fault explains it.
func (s *Stage) wait(ctx context.Context, c *Client, d time.Duration) error {
	answered, stop := s.listen(c)
	defer stop()
	last, err := s.await(ctx, c, s.name(), d)
	if err == nil && last != nil && !answered() && !s.explains(c) && !s.Hangs.Any() {
		err = &MissedError{Why: fmt.Sprintf("%s asked for %v and got no answer: %v", c.Name, d, last)}
	}
	return err
}

// await lets c try, once at least, until it has the lock on key, or until d has passed. It returns
// what c was told last if it was never told anything definite.
func (s *Stage) await(ctx context.Context, c *Client, key string, d time.Duration) (unknown, failed error) {
	end := c.Now() + d
	definite := false
	for {
		began := c.Now()
		err := c.Acquire(ctx, key, s.TTL)
		definite = definite || err == nil || locks.Classify(err) == locks.Refused
		// By when it was asked, as the judge counts: how long the answer took is not the lock's.
		if err == nil || began >= end || s.Hangs.Any() {
			if definite {
				err = nil
			}
			return err, nil
		}
		if err := s.Stopped(ctx); err != nil {
			return nil, err
		}
		if err := c.Clock.Sleep(ctx, max(s.TTL/20, 5*time.Millisecond)); err != nil {
			return nil, err
		}
	}
}

// Stopped returns why the run should end, or nil.
func (s *Stage) Stopped(ctx context.Context) error {
	return errors.Join(ctx.Err(), s.Interrupted())
}

// evict takes away what faults left behind, which is no lock's.
func (s *Stage) evict(ctx context.Context) error {
	left := slices.DeleteFunc(nemesis.All(), func(k nemesis.Kind) bool { return k.Clear == nil || !s.Nemesis.Began(k.F) })
	for shard := range s.Shards { // a replica, and a master that was replaced, may be written to no more
		node := s.Cluster.Primary(shard)
		if !s.Cluster.Alive(node) {
			continue
		}
		for _, k := range left {
			for _, key := range s.Keys {
				if err := k.Clear(ctx, s.Cluster, node, key.Kept); err != nil {
					return fmt.Errorf("clear %s of what %s left: %w", node, k.Name, err)
				}
			}
		}
	}
	return nil
}

// audit records what every living lock server holds under the keys. One that follows another is
// left out: it has what that one had a moment ago.
//
// That it is not known where a lock is kept is an audit, too.
func (s *Stage) audit(ctx context.Context) error {
	for _, key := range s.Keys {
		if key.Unknown != nil {
			s.Recorder.Record(histories.Event{
				Process: histories.Nemesis, Worker: histories.Nemesis, Type: histories.Info, F: histories.Audit,
				Key: key.Name, Err: fmt.Sprintf("nobody knows where the lock on %s is kept: %v", key.Name, key.Unknown),
			})
		}
	}
	for _, n := range s.Cluster.Nodes() {
		if n.Role == cluster.Register || !s.Cluster.Alive(n.Name) || s.follows(n) {
			continue
		}
		for _, key := range s.Keys {
			if key.Unknown != nil {
				continue // that is recorded
			}
			kept, err := s.Cluster.Inspect(ctx, n.Name, key.Kept.Database, key.Kept.Names...)
			if err != nil {
				return fmt.Errorf("audit %s: %w", n.Name, err)
			}
			for _, k := range kept {
				if k.Exists {
					s.Recorder.Record(histories.Event{
						Process: histories.Nemesis, Worker: histories.Nemesis, Type: histories.Info, F: histories.Audit,
						Key: key.Name, Node: n.Name, TTL: k.TTL, Value: k.Value,
					})
				}
			}
		}
	}
	return nil
}

// follows reports whether a node is a replica: one from the start that serves no shard, or a master that
// was made to follow its successor.
func (s *Stage) follows(n cluster.Node) bool {
	if n.Role == cluster.Replica && !s.serves(n.Name) {
		return true
	}
	d, ok := s.Cluster.(cluster.Demoter)
	return ok && d.Master(n.Name) != ""
}

// serves reports whether a node is the one that serves one of the shards.
func (s *Stage) serves(node string) bool {
	for shard := range s.Shards {
		if s.Cluster.Primary(shard) == node {
			return true
		}
	}
	return false
}
