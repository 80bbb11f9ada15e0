package cluster

import "context"

// Demoter makes a master follow another one.
type Demoter interface {
	Replicator
	// Demote makes node, which must not be the Primary of its shard, a replica of that
	// Primary: from then on it refuses writes with READONLY, and it soon has what the
	// Primary has, for Sync to wait for. What it alone had is thrown away: discarded says how
	// much of its own stream that is, in the units of Offsets.
	Demote(ctx context.Context, node string) (discarded int64, err error)
	// Master is the node that node follows now, or "" if it follows nobody.
	Master(node string) string
}
