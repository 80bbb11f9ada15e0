package node

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
	// ProbeKey is written and deleted to have something to wait for.
	ProbeKey = "lockbench:probe"
	// waitSlice is the time-out of one WAIT. A replica that connects after a WAIT
	// began may be counted only by the next one.
	waitSlice = 100 * time.Millisecond
	// acceptPause keeps a listener that fails from spinning.
	acceptPause = 10 * time.Millisecond
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
	logf   func(format string, args ...any)
	feeds  map[string]*feed // by replica

	mu      sync.Mutex
	primary []string // by shard
}

// feed is the stream from a master to one replica. It comes in at a listener of
// ours and crosses Link(replica, master), so that it can be cut.
type feed struct {
	replica, master string
	listener        net.Listener // nil before Start

	mu       sync.Mutex
	have     int64 // what the replica had at the last look
	sent     int64 // what the master had at the last look
	promoted bool
	came     int // connections so far
}

// NewReplication returns the replication between nodes, which does not flow yet. What
// disturbs it goes to logf.
func NewReplication(nodes []cluster.Node, links *Links, locate Locate, logf func(format string, args ...any)) *Replication {
	r := &Replication{nodes: nodes, links: links, locate: locate, logf: logf, feeds: make(map[string]*feed)}
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

// Start makes the replicas follow their masters, by way of listeners on an address of
// host, and returns once they have caught up.
func (r *Replication) Start(ctx context.Context, host string) error {
	for _, n := range r.nodes {
		f, ok := r.feeds[n.Name]
		if !ok {
			continue
		}
		if err := r.listen(ctx, f, host); err != nil {
			return err
		}
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
	for _, f := range r.feeds {
		if err := r.look(ctx, f); err != nil {
			return err
		}
	}
	return nil
}

// absent names the replicas that have never come to their listener.
func (r *Replication) absent() error {
	var errs []error
	for _, n := range r.nodes {
		if f, ok := r.feeds[n.Name]; ok && f.visits() == 0 {
			errs = append(errs, fmt.Errorf("%s never connected to %v; a firewall of this machine may keep it out",
				f.replica, f.listener.Addr()))
		}
	}
	return errors.Join(errs...)
}

// Close closes the listeners.
func (r *Replication) Close() error {
	var errs []error
	for _, f := range r.feeds {
		if f.listener != nil {
			errs = append(errs, f.listener.Close())
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

func (f *feed) visits() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.came
}

// feed finds a replica by name.
func (r *Replication) feed(replica string) (*feed, error) {
	if f, ok := r.feeds[replica]; ok {
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
	for _, n := range r.nodes {
		if f, ok := r.feeds[n.Name]; ok && f.master == master && !f.isPromoted() {
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

// listen opens the listener that f comes in at.
func (r *Replication) listen(ctx context.Context, f *feed, host string) error {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		return err
	}
	f.listener = l
	link := r.links.Link(f.replica, f.master)
	r.links.Go(func(ctx context.Context) {
		for {
			conn, err := l.Accept()
			if errors.Is(err, net.ErrClosed) {
				return
			}
			if err != nil { // such as no file descriptors left; the replica comes again
				r.logf("accept the replication of %s: %v", f.replica, err)
				select {
				case <-ctx.Done():
					return
				case <-time.After(acceptPause):
				}
				continue
			}
			f.mu.Lock()
			f.came++
			f.mu.Unlock()
			r.links.Serve(link, conn) // the replica sees the end and comes again
		}
	})
	return nil
}

// Follow tells a replica to follow its master through its listener. A promoted one is
// left alone, and so is a node that is no replica.
func (r *Replication) Follow(ctx context.Context, replica string) error {
	f, ok := r.feeds[replica]
	if !ok || f.isPromoted() {
		return nil
	}
	host, port, err := net.SplitHostPort(f.listener.Addr().String())
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
	for {
		reply, err := Do(ctx, conn, "WAIT", strconv.FormatInt(want, 10), strconv.FormatInt(waitSlice.Milliseconds(), 10))
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
func (r *Replication) Cut(replica string) error {
	f, err := r.feed(replica)
	if err != nil {
		return err
	}
	r.links.Link(f.replica, f.master).Cut()
	return nil
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
	f.mu.Lock()
	f.promoted = true
	f.mu.Unlock()
	r.replacePrimary(f.master, f.replica)
	return nil
}

// becomeMaster makes a server a master and returns once it says that it is one.
func becomeMaster(ctx context.Context, conn *wire.Conn) error {
	if _, err := Do(ctx, conn, "REPLICAOF", "NO", "ONE"); err != nil {
		return err
	}
	pause := time.NewTicker(poll)
	defer pause.Stop()
	for {
		role, err := Do(ctx, conn, "ROLE")
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
func (r *Replication) replacePrimary(master, next string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for shard, n := range r.nodes { // masters come first, one for each shard
		if n.Name == master {
			r.primary[shard] = next
		}
	}
}

// Offsets returns, in bytes, how much of its master's stream replica has, and how
// much there was. A dead or paused node counts with what it had when it was last
// looked at: by LastLook, or at an earlier call. A promoted replica counts with what
// it had just before.
func (r *Replication) Offsets(ctx context.Context, replica string) (have, sent int64, err error) {
	f, err := r.feed(replica)
	if err != nil {
		return 0, 0, err
	}
	ctx, cancel := r.links.Bound(ctx)
	defer cancel()
	if err := r.look(ctx, f); err != nil {
		return 0, 0, fmt.Errorf("offsets of %s: %w", replica, err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.have, f.sent, nil
}

// LastLook remembers the offsets that node alone can tell, before it falls silent. A
// node that does not answer in time is not waited for.
func (r *Replication) LastLook(ctx context.Context, node string) {
	ctx, cancel := context.WithTimeout(ctx, lookLimit)
	defer cancel()
	for _, f := range r.feeds {
		if f.replica == node || f.master == node {
			_ = r.look(ctx, f) // what is not seen now keeps its last value
		}
	}
}

// look asks both ends of f for their offsets and remembers them. A dead or stopped
// end keeps its last value, and so do both ends after a promotion.
func (r *Replication) look(ctx context.Context, f *feed) error {
	if f.isPromoted() {
		return nil
	}
	have, haveErr := r.offset(ctx, f.replica, "slave_repl_offset")
	sent, sentErr := r.offset(ctx, f.master, "master_repl_offset")
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
func (r *Replication) offset(ctx context.Context, node, field string) (n int64, err error) {
	addr, paused, err := r.locate(node)
	if err != nil || paused {
		return 0, errSilent
	}
	err = Admin(ctx, addr, func(conn *wire.Conn) error {
		n, err = Info(ctx, conn, "replication", field)
		return err
	})
	return n, err
}
