package docker

import "context"

// Sync writes to master and returns once every replica that follows it has
// acknowledged the write. It fails at once if one of them is dead, and waits for a
// paused or cut off one until ctx ends.
func (c *Cluster) Sync(ctx context.Context, master string) error { return c.repl.Sync(ctx, master) }

// CutReplication severs the stream that feeds replica. What the master writes from
// now on does not reach it. It returns once the replica has noticed, if it runs.
func (c *Cluster) CutReplication(ctx context.Context, replica string) error {
	ctx, cancel := c.links.Bound(ctx)
	defer cancel()
	return c.repl.Cut(ctx, replica)
}

// HealReplication lets the stream flow again. The replica comes back by itself, a
// second later at most; Sync waits for it.
func (c *Cluster) HealReplication(_ context.Context, replica string) error {
	return c.repl.Heal(replica)
}

// Promote makes replica a master by REPLICAOF NO ONE and the Primary of its shard.
// Other replicas go on following the old master, as without a Sentinel.
func (c *Cluster) Promote(ctx context.Context, replica string) error {
	return c.change(ctx, "promote", replica, func(ctx context.Context, _ *server) error {
		return c.repl.Promote(ctx, replica)
	})
}

// Offsets returns, in bytes, how much of its master's stream replica has, and how
// much there was. A dead or paused node counts with what it had when it was last
// looked at: just before Kill or Pause, or at an earlier call. A promoted replica
// counts with what it had just before.
func (c *Cluster) Offsets(ctx context.Context, replica string) (have, sent int64, err error) {
	return c.repl.Offsets(ctx, replica)
}
