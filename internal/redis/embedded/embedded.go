// Package embedded is the deployment that needs nothing installed: in-process
// Redis servers (miniredis) on an in-memory network, in virtual time.
//
// It runs inside a bubble of package sim. Replication is modelled: after each
// reply that changed something a copy of the data sets out for the replica and
// arrives after the lag. Differences between miniredis and a real server that
// matter to locks are listed in the differential test of package locks, those of
// scripts in the one of this package.
package embedded

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/lockbench/lockbench/internal/redis/cluster"
	"github.com/lockbench/lockbench/internal/sim"
	"github.com/lockbench/lockbench/internal/wire"
)

// DefaultLag is how far replicas run behind their master unless Options say otherwise.
const DefaultLag = 5 * time.Millisecond

// Options of New. The zero value is usable.
type Options struct {
	Lag     time.Duration // replication lag; 0 means DefaultLag
	Shared  *Shared       // shared with other clusters; nil: with none
	Scripts []string      // that masters and register know from the beginning
}

// Cluster is an embedded deployment. It implements cluster.Cluster, Killer,
// Restarter, PowerCutter, Pauser, ClockSetter, Commander, EvictionSimulator,
// MemorySimulator, Replicator and Demoter.
type Cluster struct {
	world  *sim.World
	timer  *sim.Source // of the harness's own waits
	topo   cluster.Topology
	lag    time.Duration
	shared *Shared
	nodes  map[string]*node
	cancel context.CancelFunc
	ctx    context.Context
	serves sync.WaitGroup

	mu      sync.Mutex
	links   map[pair]*wire.Link
	primary []string
}

type pair struct{ client, node string }

// New starts the nodes of topo in the bubble of w.
func New(w *sim.World, topo cluster.Topology, opt Options) (*Cluster, error) {
	if topo.Masters < 1 {
		return nil, fmt.Errorf("topology has %d masters, want at least 1", topo.Masters)
	}
	if topo.Sentinels > 0 {
		return nil, errors.New("want a topology without Sentinels: they live in real time, and there is no embedded one")
	}
	lag := opt.Lag
	if lag == 0 {
		lag = DefaultLag
	}
	c := &Cluster{world: w, timer: w.Source(), topo: topo, lag: lag, nodes: map[string]*node{}, links: map[pair]*wire.Link{}, shared: cmp.Or(opt.Shared, new(Shared))}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	for _, n := range topo.Nodes() {
		member := newNode(n, w.Source(), c.shared)
		member.clusterMode = topo.ClusterMode && n.Role == cluster.Master
		if err := member.start(dataset{}); err != nil {
			return nil, errors.Join(err, c.Close())
		}
		if n.Role != cluster.Replica {
			member.know(opt.Scripts)
		}
		c.nodes[n.Name] = member
		switch n.Role {
		case cluster.Master:
			c.primary = append(c.primary, n.Name)
		case cluster.Replica:
			member.follow(c.nodes[n.Of], lag)
		}
	}
	return c, nil
}

// VirtualTime marks the cluster.
func (c *Cluster) VirtualTime() {}

// Nodes returns the members in the order of the topology.
func (c *Cluster) Nodes() []cluster.Node { return c.topo.Nodes() }

// Primary is the node that serves shard now, or "" if there is no such shard.
func (c *Cluster) Primary(shard int) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if shard < 0 || shard >= len(c.primary) {
		return ""
	}
	return c.primary[shard]
}

func (c *Cluster) node(name string) (*node, error) {
	if n, ok := c.nodes[name]; ok {
		return n, nil
	}
	return nil, fmt.Errorf("no node %q in %v", name, c.topo)
}

// Link is the interposer between client and node. Ask for links in a fixed order:
// the order decides the time slots.
func (c *Cluster) Link(client, name string) *wire.Link {
	c.mu.Lock()
	defer c.mu.Unlock()
	if l, ok := c.links[pair{client, name}]; ok {
		return l
	}
	route := c.world.Route(client, name)
	l := wire.NewLink(client, name, func(ctx context.Context) (net.Conn, error) {
		n, err := c.node(name)
		if err != nil {
			return nil, err
		}
		number := wire.ConnNumber(ctx)
		near, far := route.Connect(number)
		if err := n.accept(far, route.Source(number)); err != nil {
			_ = near.Close()
			_ = far.Close()
			return nil, err
		}
		return near, nil
	})
	l.SetClocks(func(conn int, d wire.Direction) wire.Clock {
		if d == wire.Requests {
			return route.Source(conn)
		}
		return route.NearSource(conn)
	})
	l.Share(&c.shared.buffers)
	c.links[pair{client, name}] = l
	return l
}

// Dial connects client to node through their link.
func (c *Cluster) Dial(ctx context.Context, client, name string) (net.Conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !c.Alive(name) {
		return nil, refused(name)
	}
	link := c.Link(client, name)
	if err := link.Refuses(); err != nil {
		return nil, err
	}
	near, far := sim.Pipe()
	c.serves.Go(func() { _ = link.Serve(c.ctx, far) }) // the client sees a broken connection as such
	return near, nil
}

func refused(node string) error {
	return &net.OpError{Op: "dial", Net: "sim", Err: fmt.Errorf("node %s is down: %w", node, syscall.ECONNREFUSED)}
}

// Inspect looks at keys on node directly. The servers replicate and persist database 0 alone,
// and another is an error.
func (c *Cluster) Inspect(_ context.Context, name string, database int, keys ...string) ([]cluster.KeyState, error) {
	n, err := c.node(name)
	if err != nil {
		return nil, err
	}
	if database != 0 {
		return nil, fmt.Errorf("inspect database %d of %s: embedded servers replicate and persist database 0 alone, use real servers", database, name)
	}
	return n.inspect(keys)
}

// Alive reports whether node is running.
func (c *Cluster) Alive(name string) bool {
	n, err := c.node(name)
	return err == nil && n.isAlive()
}

// Kill stops node at once. Its data is gone, but for what it persisted.
func (c *Cluster) Kill(_ context.Context, name string) error {
	n, err := c.node(name)
	if err != nil {
		return err
	}
	n.kill()
	return nil
}

// Restart starts a killed node again, empty.
func (c *Cluster) Restart(_ context.Context, name string) error {
	n, err := c.node(name)
	if err != nil {
		return err
	}
	if n.isAlive() {
		return fmt.Errorf("restart %s: it is running", name)
	}
	return n.restart()
}

// Pause stops node without closing its connections. What is sent to it waits.
func (c *Cluster) Pause(_ context.Context, name string) error {
	n, err := c.node(name)
	if err != nil {
		return err
	}
	n.pause()
	return nil
}

// Resume ends a Pause.
func (c *Cluster) Resume(_ context.Context, name string) error {
	n, err := c.node(name)
	if err != nil {
		return err
	}
	n.resume()
	return nil
}

// Close ends every connection and every node.
func (c *Cluster) Close() error {
	c.cancel()
	c.mu.Lock()
	links := make([]*wire.Link, 0, len(c.links))
	for _, l := range c.links {
		links = append(links, l)
	}
	c.mu.Unlock()
	for _, l := range links {
		l.Close()
	}
	for _, n := range c.nodes {
		n.kill()
	}
	c.serves.Wait()
	return nil
}
