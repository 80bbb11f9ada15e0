package embedded

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/lockbench/lockbench/internal/redis/cluster"
)

// feed is the asynchronous replication from one master to one replica.
type feed struct {
	from, to *node
	lag      time.Duration

	mu       sync.Mutex
	last     dataset  // what the master held when it was last looked at
	flying   []change // sent, not yet due
	sent     int64    // changes made by the master
	have     int64    // changes the replica has
	since    int64    // of the copy with which the replica joined, or came back
	cut      bool
	promoted bool
}

// change is one copy of the data on its way.
type change struct {
	offset int64
	due    time.Time
	data   dataset
}

func (n *node) follow(master *node, lag time.Duration) {
	n.feedBy(&feed{from: master, to: n, lag: lag, last: dataset{keys: map[string]entry{}}})
}

// feedBy makes f the feed of n, instead of the one that it had.
func (n *node) feedBy(f *feed) {
	n.mu.Lock()
	old := n.master
	n.master = f
	n.mu.Unlock()
	if old != nil {
		old.from.mu.Lock()
		old.from.feeds = slices.DeleteFunc(slices.Clone(old.from.feeds), func(o *feed) bool { return o == old })
		old.from.mu.Unlock()
	}
	f.from.mu.Lock()
	defer f.from.mu.Unlock()
	f.from.feeds = append(slices.Clip(f.from.feeds), f) // others may read the old slice
}

// downstream are the feeds to the node's replicas, and to those that were promoted.
func (n *node) downstream() []*feed {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.feeds
}

// upstream is the feed from the node's master, or nil. A promoted replica follows it no more.
func (n *node) upstream() *feed {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.master
}

// answered runs after each piece of a reply is sent. What does not fit the server's
// buffer is sent while the command still holds the server's lock; the rest is then
// done by a goroutine that waits for the command to end, at the same instant.
func (n *node) answered() {
	m := n.server()
	if m == nil || len(n.downstream()) == 0 {
		return
	}
	if !m.TryLock() {
		go n.replicate()
		return
	}
	m.Unlock()
	n.replicate()
}

// replicate sends what changed to the replicas.
func (n *node) replicate() {
	m := n.server()
	if m == nil {
		return
	}
	data, now := n.snapshot(m), n.source.Now()
	for _, f := range n.downstream() {
		f.send(data, now)
	}
}

func (f *feed) send(data dataset, now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if reflect.DeepEqual(data, f.last) {
		return
	}
	f.last = data
	f.sent++
	if !f.cut && !f.promoted {
		f.flying = append(f.flying, change{f.sent, f.arrival(now), data})
	}
}

// arrive applies what is due.
func (f *feed) arrive() {
	now := f.to.source.Now()
	f.mu.Lock()
	var due *change
	for len(f.flying) > 0 && !f.flying[0].due.After(now) {
		due, f.flying = &f.flying[0], f.flying[1:]
	}
	if due != nil {
		f.have = due.offset
	}
	f.mu.Unlock()
	if m := f.to.server(); due != nil && m != nil {
		f.to.restore(m, due.data)
		if len(f.to.downstream()) > 0 {
			f.to.replicate()
		}
	}
}

func (f *feed) following() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return !f.promoted
}

func (f *feed) setCut(cut bool) {
	f.arrive()
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.promoted {
		return // it follows nobody any more
	}
	f.cut, f.flying = cut, nil
	if !cut && f.sent > f.have { // a full resynchronisation
		f.since = f.sent
		f.flying = []change{{f.sent, f.arrival(f.to.source.Now()), f.last}}
	}
}

// promote drops what has not arrived.
func (f *feed) promote() {
	f.arrive()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.promoted, f.flying = true, nil
}

// lead returns how far the replica is and when it will be at offset; the zero time
// if nothing on its way brings it there.
func (f *feed) lead(offset int64) (arrived bool, due time.Time) {
	f.arrive()
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.have >= offset {
		return true, due
	}
	for _, c := range f.flying {
		if c.offset >= offset {
			return false, c.due
		}
	}
	return false, due
}

func (f *feed) offsets() (have, sent int64) {
	f.arrive()
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.have, f.sent
}

func (c *Cluster) feedTo(replica string) (*feed, error) {
	n, err := c.node(replica)
	if err != nil {
		return nil, err
	}
	f := n.upstream()
	if f == nil {
		return nil, fmt.Errorf("node %s is not a replica", replica)
	}
	return f, nil
}

// Sync returns once every replica of master has everything written so far.
func (c *Cluster) Sync(ctx context.Context, master string) error {
	n, err := c.node(master)
	if err != nil {
		return err
	}
	for _, f := range n.downstream() {
		if !f.following() {
			continue
		}
		_, sent := f.offsets()
		for {
			arrived, due := f.lead(sent)
			if arrived {
				break
			}
			if due.IsZero() {
				return fmt.Errorf("replica %s cannot catch up with %s: their link is cut", f.to.Name, master)
			}
			if err := c.timer.Sleep(ctx, due.Sub(c.timer.Now())); err != nil {
				return err
			}
		}
	}
	return nil
}

// CutReplication severs the link that feeds replica. What was on its way is lost.
func (c *Cluster) CutReplication(_ context.Context, replica string) error {
	f, err := c.feedTo(replica)
	if err == nil {
		f.setCut(true)
	}
	return err
}

// HealReplication restores the link; the replica then gets a full copy.
func (c *Cluster) HealReplication(_ context.Context, replica string) error {
	f, err := c.feedTo(replica)
	if err == nil {
		f.setCut(false)
	}
	return err
}

// Promote makes replica a master and the Primary of its shard.
func (c *Cluster) Promote(_ context.Context, replica string) error {
	f, err := c.feedTo(replica)
	if err != nil {
		return err
	}
	f.promote()
	c.mu.Lock()
	defer c.mu.Unlock()
	if shard, ok := cluster.ShardOf(c.Nodes(), replica); ok {
		c.primary[shard] = replica
	}
	return nil
}

// Offsets counts changes: how many replica has and how many its master made.
func (c *Cluster) Offsets(_ context.Context, replica string) (have, sent int64, err error) {
	f, err := c.feedTo(replica)
	if err != nil {
		return 0, 0, err
	}
	have, sent = f.offsets()
	return have, sent, nil
}
