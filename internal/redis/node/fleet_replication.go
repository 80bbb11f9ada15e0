package node

import (
	"context"
	"errors"
	"time"

	"github.com/lockbench/lockbench/internal/redis/cluster"
)

// Sync writes to master and returns once every replica that follows it has
// acknowledged the write. It fails at once if one of them is dead, and waits for a
// paused or cut off one until ctx ends.
func (f *Fleet[M]) Sync(ctx context.Context, master string) error {
	return f.Replication.Sync(ctx, master)
}

// CutReplication severs the stream that feeds replica. What the master writes from
// now on does not reach it. It returns once the replica has noticed, if it runs.
func (f *Fleet[M]) CutReplication(ctx context.Context, replica string) error {
	ctx, cancel := f.Links.Bound(ctx)
	defer cancel()
	return f.Replication.Cut(ctx, replica)
}

// HealReplication lets the stream flow again. The replica comes back by itself, a
// second later at most; Sync waits for it.
func (f *Fleet[M]) HealReplication(_ context.Context, replica string) error {
	return f.Replication.Heal(replica)
}

// LagReplication delays the stream to replica on its link to its master.
func (f *Fleet[M]) LagReplication(_ context.Context, replica string, by time.Duration) error {
	return f.Replication.Lag(replica, by)
}

// Promote makes replica a master by REPLICAOF NO ONE and the Primary of its shard.
// Other replicas go on following the old master, as without a Sentinel.
func (f *Fleet[M]) Promote(ctx context.Context, replica string) error {
	return f.Change(ctx, "promote", replica, func(ctx context.Context, _ M) error {
		return f.Replication.Promote(ctx, replica)
	})
}

// Demote makes a living node a replica of its shard's Primary by REPLICAOF. What it alone
// had is gone once it has the Primary's data, for which Sync waits.
func (f *Fleet[M]) Demote(ctx context.Context, name string) (discarded int64, err error) {
	err = f.Change(ctx, "demote", name, func(ctx context.Context, _ M) error {
		discarded, err = f.Replication.Demote(ctx, name)
		return err
	})
	return discarded, err
}

// Master is the node that name follows, or "" if it follows nobody.
func (f *Fleet[M]) Master(name string) string { return f.Replication.Master(name) }

// Offsets returns, in bytes, how much of its master's stream replica has, and how
// much there was. A dead or paused node counts with what it had when it was last
// looked at: just before Kill or Pause, or at an earlier call. A promoted replica
// counts with what it had just before.
func (f *Fleet[M]) Offsets(ctx context.Context, replica string) (have, sent int64, err error) {
	return f.Replication.Offsets(ctx, replica)
}

// Announced is the node that announces addr to its Sentinels.
func (f *Fleet[M]) Announced(addr string) (string, bool) {
	if f.Elections == nil {
		return "", false
	}
	return f.Elections.Announced(addr)
}

// Sentinels are the addresses that the Sentinels announce; none if there are none.
func (f *Fleet[M]) Sentinels() []string {
	if f.Elections == nil {
		return nil
	}
	return f.Elections.Addresses()
}

// Elected returns once the Sentinels have put another node than old in charge.
func (f *Fleet[M]) Elected(ctx context.Context, old string) (cluster.Election, error) {
	if f.Elections == nil {
		return cluster.Election{}, errNoSentinels
	}
	return f.Elections.Elected(ctx, old)
}

// errNoSentinels is the error of asking Sentinels that are not there.
var errNoSentinels = errors.New("want Sentinels in the topology, got none")
