package docker

import "context"

// Demote makes a living node a replica of its shard's Primary by REPLICAOF. What it alone
// had is gone once it has the Primary's data, for which Sync waits.
func (c *Cluster) Demote(ctx context.Context, name string) (discarded int64, err error) {
	err = c.change(ctx, "demote", name, func(ctx context.Context, _ *server) error {
		discarded, err = c.repl.Demote(ctx, name)
		return err
	})
	return discarded, err
}

// Master is the node that name follows, or "" if it follows nobody.
func (c *Cluster) Master(name string) string { return c.repl.Master(name) }
