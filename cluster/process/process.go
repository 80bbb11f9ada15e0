// Package process is a cluster of real redis-server processes on loopback, with
// real replication. It needs redis-server 6.2 or newer.
//
//	client ── in-process pipe ── wire.Link ── TCP ── redis-server
//	replica ── TCP ── our listener ── wire.Link ── TCP ── master
//
// Servers keep nothing and die with the harness: on Linux even when it is killed by
// SIGKILL, elsewhere with Close.
package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/lockbench/lockbench/cluster"
	"github.com/lockbench/lockbench/sim"
	"github.com/lockbench/lockbench/wire"
)

// startLimit bounds the start of servers where the caller's context sets no earlier
// end: a server that has not answered by then never will.
const startLimit = 30 * time.Second

// errClosed is what every method returns after Close.
var errClosed = errors.New("cluster is closed")

// Options say where servers come from and where they live. The zero value works.
type Options struct {
	Server string    // name or path of the server; empty: redis-server on PATH
	Dir    string    // parent of the temporary directory; empty: os.TempDir()
	Log    io.Writer // gets what servers print and what is swept; nil: nobody
}

// Cluster is a deployment of redis-server processes. It implements cluster.Cluster,
// Killer, Restarter, Pauser and Replicator.
type Cluster struct {
	prog     program
	dir      string
	log      *lineLog
	launcher *launcher

	ctx   context.Context // ends with Close
	end   context.CancelFunc
	close func() error

	nodes   []cluster.Node
	servers map[string]*server
	feeds   map[string]*feed // by replica

	mu      sync.Mutex
	tasks   sync.WaitGroup // connections and listeners; grows only under mu and before closed
	closed  bool
	links   map[pair]*wire.Link
	primary []string // by shard
}

type pair struct{ client, node string }

var (
	_ cluster.Cluster    = (*Cluster)(nil)
	_ cluster.Killer     = (*Cluster)(nil)
	_ cluster.Restarter  = (*Cluster)(nil)
	_ cluster.Pauser     = (*Cluster)(nil)
	_ cluster.Replicator = (*Cluster)(nil)
)

// New starts the servers of topo and returns once all of them answer and every
// replica is in step with its master. A failed New leaves nothing behind. Without a
// usable redis-server the error is a *MissingError. ctx bounds the start only.
func New(ctx context.Context, topo cluster.Topology, opt Options) (*Cluster, error) {
	if topo.Masters < 1 || topo.Replicas < 0 {
		return nil, fmt.Errorf("want a topology of at least 1 master and 0 or more replicas, got %d and %d",
			topo.Masters, topo.Replicas)
	}
	prog, err := findProgram(ctx, opt.Server)
	if err != nil {
		return nil, err
	}
	log := &lineLog{w: opt.Log}
	dir, err := newWorkDir(opt.Dir, log)
	if err != nil {
		return nil, fmt.Errorf("make a temporary directory: %w", err)
	}
	c := newCluster(ctx, topo, prog, dir, log)
	if err := c.start(ctx); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

func newCluster(ctx context.Context, topo cluster.Topology, prog program, dir string, log *lineLog) *Cluster {
	c := &Cluster{
		prog:     prog,
		dir:      dir,
		log:      log,
		launcher: newLauncher(),
		nodes:    layout(topo),
		servers:  make(map[string]*server),
		feeds:    make(map[string]*feed),
		links:    make(map[pair]*wire.Link),
	}
	c.ctx, c.end = context.WithCancel(context.WithoutCancel(ctx))
	c.close = sync.OnceValue(c.shutDown)
	for _, n := range c.nodes {
		c.servers[n.Name] = newServer(n, filepath.Join(dir, n.Name))
		switch n.Role {
		case cluster.Master:
			c.primary = append(c.primary, n.Name)
		case cluster.Replica:
			c.feeds[n.Name] = &feed{replica: n.Name, master: n.Of}
		}
	}
	return c
}

// layout names the nodes of a topology.
func layout(topo cluster.Topology) []cluster.Node {
	var nodes []cluster.Node
	for i := range topo.Masters {
		nodes = append(nodes, cluster.Node{Name: numbered("n", "master", i, topo.Masters), Role: cluster.Master})
	}
	for i := range topo.Replicas {
		nodes = append(nodes, cluster.Node{
			Name: numbered("replica", "replica", i, topo.Replicas), Role: cluster.Replica, Of: nodes[0].Name,
		})
	}
	return append(nodes, cluster.Node{Name: "register", Role: cluster.Register})
}

// numbered is the name of the i-th of n nodes, counting from 0: alone if n is 1.
func numbered(prefix, alone string, i, n int) string {
	if n == 1 {
		return alone
	}
	return fmt.Sprintf("%s%d", prefix, i+1)
}

// start starts all servers at once and then the replication between them.
func (c *Cluster) start(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, startLimit, fmt.Errorf("gave up after %v", startLimit))
	defer cancel()
	err := inParallel(ctx, c.nodes, func(ctx context.Context, n cluster.Node) error {
		return c.change(ctx, "start", n.Name, func(ctx context.Context, s *server) error {
			return s.start(ctx, c.prog, c.launcher, c.log)
		})
	})
	if err != nil {
		return err
	}
	return c.replicate(ctx)
}

// inParallel calls f for every item at once, and returns the first error once all
// calls have returned. An error ends the context of the others.
func inParallel[T any](ctx context.Context, items []T, f func(context.Context, T) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	var first error
	var once sync.Once
	for _, item := range items {
		wg.Go(func() {
			if err := f(ctx, item); err != nil {
				once.Do(func() { first = err })
				cancel(err)
			}
		})
	}
	wg.Wait()
	return first
}

// Nodes returns the masters, the replicas and the register, in this order and in
// the roles that they were started in.
func (c *Cluster) Nodes() []cluster.Node { return slices.Clone(c.nodes) }

// Primary returns the node that serves shard, or "" if there is no such shard.
func (c *Cluster) Primary(shard int) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if shard < 0 || shard >= len(c.primary) {
		return ""
	}
	return c.primary[shard]
}

// Alive says whether node is running. A paused node is alive.
func (c *Cluster) Alive(node string) bool {
	s, ok := c.servers[node]
	return ok && s.current() != nil
}

// Dial connects client to node through Link(client, node). A dead node refuses at
// once; the error is then a *net.OpError with syscall.ECONNREFUSED. ctx bounds the
// dial only, not the life of the connection.
func (c *Cluster) Dial(ctx context.Context, client, node string) (net.Conn, error) {
	s, err := c.server(node)
	if err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if s.current() == nil {
		return nil, refused(node)
	}
	link := c.Link(client, node)
	near, far := sim.Pipe()
	if !c.spawn(func() { _ = link.Serve(c.ctx, far) }) { // either side's end is the client's to see
		return nil, errors.Join(errClosed, near.Close(), far.Close())
	}
	return near, nil
}

// Link returns the interposer between client and node. A replica is the client of
// its master on the link that feeds it.
func (c *Cluster) Link(client, node string) *wire.Link {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := pair{client, node}
	link, ok := c.links[key]
	if !ok {
		link = wire.NewLink(client, node, func(ctx context.Context) (net.Conn, error) {
			return c.connect(ctx, node)
		})
		c.links[key] = link
		if c.closed {
			link.Close()
		}
	}
	return link
}

// connect opens a TCP connection to node.
func (c *Cluster) connect(ctx context.Context, node string) (net.Conn, error) {
	s, err := c.server(node)
	if err != nil {
		return nil, err
	}
	r := s.current()
	if r == nil {
		return nil, refused(node)
	}
	var d net.Dialer
	return d.DialContext(ctx, "tcp", r.addr())
}

// refused is the error of dialing a dead node. Its port is not tried: by now it may
// be somebody else's.
func refused(node string) error {
	return fmt.Errorf("node %s is not running: %w", node,
		&net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)})
}

func notRunning(node string) error { return fmt.Errorf("node %s is not running", node) }

// server finds a node by name.
func (c *Cluster) server(node string) (*server, error) {
	if s, ok := c.servers[node]; ok {
		return s, nil
	}
	var names []string
	for _, n := range c.nodes {
		names = append(names, n.Name)
	}
	return nil, fmt.Errorf("no node %q in this cluster; it has %s", node, strings.Join(names, ", "))
}

// spawn runs f until Close at the latest. It returns false after Close.
func (c *Cluster) spawn(f func()) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return false
	}
	c.tasks.Go(f)
	return true
}

// bound returns ctx, ended by Close too.
func (c *Cluster) bound(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	if c.ctx.Err() != nil {
		cancel(errClosed)
	}
	stop := context.AfterFunc(c.ctx, func() { cancel(errClosed) })
	return ctx, func() {
		stop()
		cancel(nil)
	}
}

// change calls f, which does what verb says to node, while nobody else starts,
// kills, stops or continues it.
func (c *Cluster) change(ctx context.Context, verb, node string, f func(context.Context, *server) error) error {
	s, err := c.server(node)
	if err != nil {
		return err
	}
	ctx, cancel := c.bound(ctx)
	defer cancel()
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
	}
	if ctx.Err() != nil {
		return fmt.Errorf("%s %s: %w", verb, node, context.Cause(ctx))
	}
	if err := f(ctx, s); err != nil {
		return fmt.Errorf("%s %s: %w", verb, node, err)
	}
	return nil
}

// Close kills all servers and waits for them, closes all connections and removes
// the temporary directory. Later calls return what the first one did.
func (c *Cluster) Close() error { return c.close() }

func (c *Cluster) shutDown() error {
	c.mu.Lock()
	c.closed = true
	links := slices.Collect(maps.Values(c.links))
	c.mu.Unlock()
	c.end()

	errs := make([]error, len(c.nodes))
	var kills sync.WaitGroup
	for i, n := range c.nodes {
		kills.Go(func() {
			s := c.servers[n.Name]
			s.turn <- struct{}{} // for good: changes that wait see that the cluster is closed
			if r := s.current(); r != nil {
				errs[i] = r.kill()
			}
		})
	}
	kills.Wait()
	for _, f := range c.feeds {
		if f.listener != nil {
			errs = append(errs, f.listener.Close())
		}
	}
	for _, link := range links {
		link.Close()
	}
	c.tasks.Wait()
	c.launcher.stop()
	errs = append(errs, os.RemoveAll(c.dir))
	return errors.Join(errs...)
}
