package embedded

import (
	"context"
	"fmt"

	"github.com/lockbench/lockbench/internal/redis/cluster"
)

// Demote makes a living node a replica of its shard's Primary at this instant. It refuses
// writes and scripts from now on, and has the Primary's data after the lag.
func (c *Cluster) Demote(_ context.Context, name string) (discarded int64, err error) {
	n, err := c.node(name)
	if err != nil {
		return 0, err
	}
	shard, ok := cluster.ShardOf(c.Nodes(), name)
	if !ok {
		return 0, fmt.Errorf("demote %s: it belongs to no shard", name)
	}
	primary := c.nodes[c.Primary(shard)]
	switch {
	case primary == n:
		return 0, fmt.Errorf("demote %s: it is the primary of its shard; promote another one first", name)
	case !n.isAlive():
		return 0, fmt.Errorf("demote %s: %w", name, errDown)
	}
	discarded = n.ahead(primary)
	n.feedBy(primary.newFeed(n, c))
	return discarded, nil
}

// ahead is by how much n is ahead of primary in the stream that primary left when it was
// promoted: n is where it came from, or another replica of that one.
func (n *node) ahead(primary *node) int64 {
	left, own := primary.upstream(), n.upstream()
	if left == nil {
		return 0
	}
	have, sent := left.offsets()
	switch {
	case left.from == n:
		return sent - have
	case own != nil && own.from == left.from:
		has, _ := own.offsets()
		return max(0, has-have)
	}
	return 0
}

// newFeed is a feed from n that begins with a copy of everything.
func (n *node) newFeed(to *node, c *Cluster) *feed {
	f := &feed{from: n, to: to, lag: c.lag, last: dataset{}, sent: 1}
	for _, other := range n.downstream() { // all feeds count one stream
		_, sent := other.offsets()
		f.sent = max(f.sent, sent)
	}
	if m := n.server(); m != nil {
		f.last = n.snapshot(m)
	}
	f.since = f.sent
	f.flying = []change{{f.sent, f.arrival(n.source.Now()), f.last}}
	return f
}

// Master is the node that name follows, or "" if it follows nobody.
func (c *Cluster) Master(name string) string {
	n, err := c.node(name)
	if err != nil {
		return ""
	}
	if f := n.upstream(); f != nil && f.following() {
		return f.from.Name
	}
	return ""
}
