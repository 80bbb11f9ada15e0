package process

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/lockbench/lockbench/cluster"
	"github.com/lockbench/lockbench/wire"
)

const (
	// probeKey is written and deleted to have something to wait for.
	probeKey = "lockbench:probe"
	// waitSlice is the time-out of one WAIT. A replica that connects after a WAIT
	// began may be counted only by the next one.
	waitSlice = 100 * time.Millisecond
	// acceptPause keeps a listener that fails from spinning.
	acceptPause = 10 * time.Millisecond
)

// feed is the stream from a master to one replica. It comes in at a listener of
// ours and crosses Link(replica, master), so that it can be cut.
type feed struct {
	replica, master string
	listener        net.Listener // nil before the first start

	mu       sync.Mutex
	have     int64 // what the replica had at the last look
	sent     int64 // what the master had at the last look
	promoted bool
}

func (f *feed) isPromoted() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.promoted
}

// feed finds a replica by name.
func (c *Cluster) feed(replica string) (*feed, error) {
	s, err := c.server(replica)
	if err != nil {
		return nil, err
	}
	f, ok := c.feeds[replica]
	if !ok {
		return nil, fmt.Errorf("node %s is a %s, want a replica", replica, s.node.Role)
	}
	return f, nil
}

// followers are the feeds of the replicas that still follow master.
func (c *Cluster) followers(master string) []*feed {
	var feeds []*feed
	for _, n := range c.nodes {
		if f, ok := c.feeds[n.Name]; ok && f.master == master && !f.isPromoted() {
			feeds = append(feeds, f)
		}
	}
	return feeds
}

// replicate makes the replicas follow their masters and returns once they have
// caught up.
func (c *Cluster) replicate(ctx context.Context) error {
	for _, n := range c.nodes {
		f, ok := c.feeds[n.Name]
		if !ok {
			continue
		}
		if err := c.listen(ctx, f); err != nil {
			return err
		}
		if err := c.follow(ctx, f, c.servers[n.Name]); err != nil {
			return err
		}
	}
	for _, n := range c.nodes {
		if n.Role != cluster.Master || len(c.followers(n.Name)) == 0 {
			continue
		}
		if err := c.Sync(ctx, n.Name); err != nil {
			return err
		}
	}
	for _, f := range c.feeds {
		if err := c.look(ctx, f); err != nil {
			return err
		}
	}
	return nil
}

// listen opens the listener that f comes in at.
func (c *Cluster) listen(ctx context.Context, f *feed) error {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", net.JoinHostPort(loopback, "0"))
	if err != nil {
		return err
	}
	f.listener = l
	link := c.Link(f.replica, f.master)
	c.spawn(func() {
		for {
			conn, err := l.Accept()
			if errors.Is(err, net.ErrClosed) {
				return
			}
			if err != nil { // such as no file descriptors left; the replica comes again
				c.log.printf("accept the replication of %s: %v", f.replica, err)
				select {
				case <-c.ctx.Done():
					return
				case <-time.After(acceptPause):
				}
				continue
			}
			if !c.spawn(func() { _ = link.Serve(c.ctx, conn) }) { // the replica sees the end and comes again
				_ = conn.Close()
			}
		}
	})
	return nil
}

// follow tells the replica to follow its master through the listener.
func (c *Cluster) follow(ctx context.Context, f *feed, s *server) error {
	port := f.listener.Addr().(*net.TCPAddr).Port
	return s.admin(ctx, func(conn *wire.Conn) error {
		_, err := do(ctx, conn, "REPLICAOF", loopback, strconv.Itoa(port))
		return err
	})
}

// Sync writes to master and returns once every replica that follows it has
// acknowledged the write. It fails at once if one of them is dead, and waits for a
// paused or cut off one until ctx ends.
func (c *Cluster) Sync(ctx context.Context, master string) error {
	s, err := c.server(master)
	if err != nil {
		return err
	}
	ctx, cancel := c.bound(ctx)
	defer cancel()
	feeds := c.followers(master)
	for _, f := range feeds {
		if !c.Alive(f.replica) {
			return fmt.Errorf("sync %s: %w", master, notRunning(f.replica))
		}
	}
	acks := int64(0)
	err = s.admin(ctx, func(conn *wire.Conn) error {
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
	if _, err := do(ctx, conn, "SET", probeKey, "1", "PX", "60000"); err != nil {
		return 0, err
	}
	if _, err := do(ctx, conn, "DEL", probeKey); err != nil {
		return 0, err
	}
	for {
		reply, err := do(ctx, conn, "WAIT", strconv.FormatInt(want, 10), strconv.FormatInt(waitSlice.Milliseconds(), 10))
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

// CutReplication severs the stream that feeds replica. What the master writes from
// now on does not reach it. Stopping the replica would not do that: the kernel
// buffers the stream.
func (c *Cluster) CutReplication(_ context.Context, replica string) error {
	f, err := c.feed(replica)
	if err != nil {
		return err
	}
	c.Link(f.replica, f.master).Cut()
	return nil
}

// HealReplication lets the stream flow again. The replica comes back by itself, a
// second later at most; Sync waits for it.
func (c *Cluster) HealReplication(_ context.Context, replica string) error {
	f, err := c.feed(replica)
	if err != nil {
		return err
	}
	c.Link(f.replica, f.master).Heal()
	return nil
}

// Promote makes replica a master by REPLICAOF NO ONE and the Primary of its shard.
// Other replicas go on following the old master, as without a Sentinel.
func (c *Cluster) Promote(ctx context.Context, replica string) error {
	f, err := c.feed(replica)
	if err != nil {
		return err
	}
	return c.change(ctx, "promote", replica, func(ctx context.Context, s *server) error {
		if f.isPromoted() {
			return errors.New("it is a master already")
		}
		c.lastLook(ctx, s)
		if err := s.admin(ctx, func(conn *wire.Conn) error { return becomeMaster(ctx, conn) }); err != nil {
			return err
		}
		f.mu.Lock()
		f.promoted = true
		f.mu.Unlock()
		c.replacePrimary(f.master, f.replica)
		return nil
	})
}

// becomeMaster makes a server a master and returns once it says that it is one.
func becomeMaster(ctx context.Context, conn *wire.Conn) error {
	if _, err := do(ctx, conn, "REPLICAOF", "NO", "ONE"); err != nil {
		return err
	}
	pause := time.NewTicker(poll)
	defer pause.Stop()
	for {
		role, err := do(ctx, conn, "ROLE")
		if err != nil {
			return err
		}
		if len(role.Elems) > 0 && role.Elems[0].Text() == "master" {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-pause.C:
		}
	}
}

// replacePrimary makes next serve the shard of master.
func (c *Cluster) replacePrimary(master, next string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for shard, n := range c.nodes { // masters come first, one for each shard
		if n.Name == master {
			c.primary[shard] = next
		}
	}
}

// Offsets returns, in bytes, how much of its master's stream replica has, and how
// much there was. A dead or paused node counts with what it had when it was last
// looked at: just before Kill or Pause, or at an earlier call. A promoted replica
// counts with what it had just before.
func (c *Cluster) Offsets(ctx context.Context, replica string) (have, sent int64, err error) {
	f, err := c.feed(replica)
	if err != nil {
		return 0, 0, err
	}
	ctx, cancel := c.bound(ctx)
	defer cancel()
	if err := c.look(ctx, f); err != nil {
		return 0, 0, fmt.Errorf("offsets of %s: %w", replica, err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.have, f.sent, nil
}

// look asks both ends of f for their offsets and remembers them. A dead or stopped
// end keeps its last value, and so do both ends after a promotion.
func (c *Cluster) look(ctx context.Context, f *feed) error {
	if f.isPromoted() {
		return nil
	}
	have, haveErr := c.offset(ctx, f.replica, "slave_repl_offset")
	sent, sentErr := c.offset(ctx, f.master, "master_repl_offset")
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.promoted {
		return nil
	}
	if haveErr == nil {
		f.have = have
	}
	if sentErr == nil {
		f.sent = sent
	}
	return errors.Join(ignoreSilent(haveErr), ignoreSilent(sentErr))
}

// errSilent says that a node is dead or stopped, as intended.
var errSilent = errors.New("node does not answer")

func ignoreSilent(err error) error {
	if errors.Is(err, errSilent) {
		return nil
	}
	return err
}

// offset asks node for one offset.
func (c *Cluster) offset(ctx context.Context, node, field string) (n int64, err error) {
	r := c.servers[node].answering()
	if r == nil {
		return 0, errSilent
	}
	err = admin(ctx, r.addr(), func(conn *wire.Conn) error {
		n, err = info(ctx, conn, "replication", field)
		return err
	})
	return n, err
}
