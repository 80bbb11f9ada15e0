package embedded

import (
	"context"
	"time"

	"github.com/lockbench/lockbench/internal/redis/cluster"
)

var _ cluster.Lagger = (*Cluster)(nil)

// longWay is the way to a replica on which everything takes longer.
type longWay struct {
	from *node
	by   time.Duration
}

// LagReplication makes changes set out from now on arrive later, on top of the Lag of the
// Options.
func (c *Cluster) LagReplication(_ context.Context, replica string, by time.Duration) error {
	f, err := c.feedTo(replica)
	if err != nil {
		return err
	}
	n := f.to
	n.mu.Lock()
	n.long = longWay{f.from, by}
	n.mu.Unlock()
	return nil
}

// arrival is when a change that sets out at now arrives: never before the one ahead of it.
// The caller holds f.mu.
func (f *feed) arrival(now time.Time) time.Time {
	due := now.Add(f.lag + f.to.extraLag(f.from))
	if n := len(f.flying); n > 0 && f.flying[n-1].due.After(due) {
		due = f.flying[n-1].due
	}
	return due
}

// extraLag is by how much the way from master is too long.
func (n *node) extraLag(master *node) time.Duration {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.long.from != master {
		return 0
	}
	return n.long.by
}
