package node

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/lockbench/lockbench/internal/redis/cluster"
	"github.com/lockbench/lockbench/internal/wire"
)

const (
	// ProbeKey is written and deleted to have something to wait for.
	ProbeKey = "lockbench:probe"
	// waitSlice is the time-out of the first WAIT. A replica that connects after a WAIT
	// began may be counted only by the next one. But each WAIT writes a GETACK, for which
	// the next one waits as well: with slices shorter than a replica's lag none would ever
	// be satisfied, and so each is twice as long as the one before.
	waitSlice = 100 * time.Millisecond
	// poll is the time between two looks at a server that is not ready yet.
	poll = time.Millisecond
	// lookLimit bounds the look at a server that is about to be killed or stopped.
	lookLimit = 250 * time.Millisecond
)

// Locate says where a node listens and whether it is stopped. The error says that it
// does not run.
type Locate func(node string) (addr string, paused bool, err error)

// Replication is the asynchronous replication inside one cluster. Methods are safe
// for concurrent use once Start has returned.
type Replication struct {
	nodes  []cluster.Node
	links  *Links
	locate Locate
	doors  *Doors // nil before Start

	mu      sync.Mutex
	feeds   map[string]*feed       // by replica, the latest of each
	primary []string               // by shard
	last    map[string]time.Time   // of LastLook, by node
	lags    map[string]*wire.Delay // by replica
}

// feed is the stream from a master to one replica. It comes in at a door and crosses
// Link(replica, master), so that it can be cut.
type feed struct {
	replica, master string

	mu       sync.Mutex
	have     int64 // what the replica had at the last look
	sent     int64 // what the master had at the last look
	promoted bool
}

// NewReplication returns the replication between nodes, which does not flow yet.
func NewReplication(nodes []cluster.Node, links *Links, locate Locate) *Replication {
	r := &Replication{
		nodes: nodes, links: links, locate: locate,
		feeds: make(map[string]*feed), last: make(map[string]time.Time), lags: make(map[string]*wire.Delay),
	}
	for _, n := range nodes {
		switch n.Role {
		case cluster.Master:
			r.primary = append(r.primary, n.Name)
		case cluster.Replica:
			r.feeds[n.Name] = &feed{replica: n.Name, master: n.Of}
		}
	}
	return r
}

// Start makes the replicas follow their masters, by way of doors, and returns once they
// have caught up.
func (r *Replication) Start(ctx context.Context, doors *Doors) error {
	r.doors = doors
	for _, n := range r.nodes {
		if err := r.Follow(ctx, n.Name); err != nil {
			return err
		}
	}
	for _, n := range r.nodes {
		if n.Role != cluster.Master || len(r.followers(n.Name)) == 0 {
			continue
		}
		if err := r.Sync(ctx, n.Name); err != nil {
			return errors.Join(err, r.absent())
		}
	}
	for _, f := range r.all() {
		if err := r.look(ctx, f); err != nil {
			return err
		}
	}
	return nil
}

// all returns the feeds in the order of their replicas.
func (r *Replication) all() []*feed {
	r.mu.Lock()
	defer r.mu.Unlock()
	var feeds []*feed
	for _, n := range r.nodes {
		if f, ok := r.feeds[n.Name]; ok {
			feeds = append(feeds, f)
		}
	}
	return feeds
}

// absent names the replicas that have never come to the door of their master.
func (r *Replication) absent() error {
	var errs []error
	for _, f := range r.all() {
		if r.doors.visits(f.replica, f.master) == 0 {
			errs = append(errs, fmt.Errorf("%s never came to the door of %s on %s; a firewall of this machine may keep it out",
				f.replica, f.master, r.doors.host))
		}
	}
	return errors.Join(errs...)
}

// Primary returns the node that serves shard, or "" if there is no such shard.
func (r *Replication) Primary(shard int) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if shard < 0 || shard >= len(r.primary) {
		return ""
	}
	return r.primary[shard]
}

func (f *feed) isPromoted() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.promoted
}

// latest is the feed of a replica, or of one that was promoted. Nil: it never had one.
func (r *Replication) latest(replica string) *feed {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.feeds[replica]
}

// Master is the node that replica follows, or "" if it follows nobody.
func (r *Replication) Master(replica string) string {
	if f := r.latest(replica); f != nil && !f.isPromoted() {
		return f.master
	}
	return ""
}

// feed finds a replica by name.
func (r *Replication) feed(replica string) (*feed, error) {
	if f := r.latest(replica); f != nil {
		return f, nil
	}
	for _, n := range r.nodes {
		if n.Name == replica {
			return nil, fmt.Errorf("node %s is a %s, want a replica", replica, n.Role)
		}
	}
	return nil, Unknown(replica, r.nodes)
}

// followers are the feeds of the replicas that still follow master.
func (r *Replication) followers(master string) []*feed {
	var feeds []*feed
	for _, f := range r.all() {
		if f.master == master && !f.isPromoted() {
			feeds = append(feeds, f)
		}
	}
	return feeds
}

// admin calls f with an admin connection to node.
func (r *Replication) admin(ctx context.Context, node string, f func(*wire.Conn) error) error {
	addr, _, err := r.locate(node)
	if err != nil {
		return err
	}
	return Admin(ctx, addr, f)
}

// Follow tells a replica to follow its master. A promoted one is left alone, and so is a
// node that is no replica.
func (r *Replication) Follow(ctx context.Context, replica string) error {
	master := r.Master(replica)
	if master == "" {
		return nil
	}
	host, port, err := r.doors.Address(ctx, replica, master)
	if err != nil {
		return err
	}
	return r.admin(ctx, replica, func(conn *wire.Conn) error {
		_, err := Do(ctx, conn, "REPLICAOF", host, port)
		return err
	})
}

// Sync writes to master and returns once every replica that follows it has
// acknowledged the write. It fails at once if one of them is dead, and waits for a
// paused or cut off one until ctx ends.
func (r *Replication) Sync(ctx context.Context, master string) error {
	if _, _, err := r.locate(master); err != nil {
		return err
	}
	ctx, cancel := r.links.Bound(ctx)
	defer cancel()
	feeds := r.followers(master)
	for _, f := range feeds {
		if _, _, err := r.locate(f.replica); err != nil {
			return fmt.Errorf("sync %s: %w", master, err)
		}
	}
	acks := int64(0)
	err := r.admin(ctx, master, func(conn *wire.Conn) (err error) {
		// A new replica may get the first probe with its snapshot, before the stream
		// flows. The second one can only come by the stream.
		for range 2 {
			if acks, err = probe(ctx, conn, int64(len(feeds))); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("sync %s: %d of %d replicas acknowledged: %w", master, acks, len(feeds), err)
	}
	return nil
}

// probe writes and returns once want replicas have acknowledged the write. acks is
// how many did at the last look. WAIT cannot be fooled as the link status can, but
// it counts only what its own connection wrote.
func probe(ctx context.Context, conn *wire.Conn, want int64) (acks int64, err error) {
	if _, err := Do(ctx, conn, "SET", ProbeKey, "1", "PX", "60000"); err != nil {
		return 0, err
	}
	if _, err := Do(ctx, conn, "DEL", ProbeKey); err != nil {
		return 0, err
	}
	for slice := waitSlice; ; slice *= 2 {
		reply, err := Do(ctx, conn, "WAIT", strconv.FormatInt(want, 10), strconv.FormatInt(slice.Milliseconds(), 10))
		if err != nil {
			return acks, err
		}
		if acks, err = reply.Int(); err != nil {
			return 0, fmt.Errorf("WAIT: %w", err)
		}
		if acks >= want {
			return acks, nil
		}
	}
}

// Cut severs the stream that feeds replica. What the master writes from now on does
// not reach it. Stopping the replica would not do that: the kernel buffers the stream.
// Cut returns once the replica has noticed, if it runs.
func (r *Replication) Cut(ctx context.Context, replica string) error {
	f, err := r.feed(replica)
	if err != nil {
		return err
	}
	r.links.Link(f.replica, f.master).Cut()
	return r.severed(ctx, f)
}

// Heal lets the stream flow again. The replica comes back by itself, a second later
// at most; Sync waits for it.
func (r *Replication) Heal(replica string) error {
	f, err := r.feed(replica)
	if err != nil {
		return err
	}
	r.links.Link(f.replica, f.master).Heal()
	return nil
}

// Promote makes replica a master by REPLICAOF NO ONE and the Primary of its shard.
// Other replicas go on following the old master, as without a Sentinel.
func (r *Replication) Promote(ctx context.Context, replica string) error {
	f, err := r.feed(replica)
	if err != nil {
		return err
	}
	if f.isPromoted() {
		return errors.New("it is a master already")
	}
	r.LastLook(ctx, replica)
	if err := r.admin(ctx, replica, func(conn *wire.Conn) error { return becomeMaster(ctx, conn) }); err != nil {
		return err
	}
	r.promoted(f)
	return nil
}

// promoted notes that the replica of f is a master.
func (r *Replication) promoted(f *feed) {
	f.mu.Lock()
	f.promoted = true
	f.mu.Unlock()
	r.lead(f.replica)
}

// becomeMaster makes a server a master and returns once it says that it is one.
func becomeMaster(ctx context.Context, conn *wire.Conn) error {
	if _, err := Do(ctx, conn, "REPLICAOF", "NO", "ONE"); err != nil {
		return err
	}
	return awaitRole(ctx, conn, "master")
}

// lead makes node serve its shard.
func (r *Replication) lead(node string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if shard, ok := cluster.ShardOf(r.nodes, node); ok {
		r.primary[shard] = node
	}
}
