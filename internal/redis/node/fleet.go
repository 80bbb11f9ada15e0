package node

import (
	"context"
	"fmt"
	"net"
	"slices"
	"time"

	"github.com/lockbench/lockbench/internal/redis/cluster"
	"github.com/lockbench/lockbench/internal/wire"
)

// Machine is where one server of a Fleet lives: a process, or a container. Only the owner of its Turn
// calls Start, Keep, Kill, Suspend, Resume and what AOF returns.
type Machine interface {
	// Addr returns where the server listens, and false if it does not run.
	Addr() (addr string, running bool)
	// Dial opens a connection to the server.
	Dial(ctx context.Context) (net.Conn, error)
	// Silent reports whether the server can answer nobody, as it stands still or is off the network.
	Silent() bool
	// Paused reports whether the server stands still.
	Paused() bool
	// Turn is a lock that a context can give up on.
	Turn() chan struct{}

	// Start starts a server that does not run, without what it had kept, and returns once it answers.
	Start(ctx context.Context) error
	// Keep is Start with the append-only file. It calls first with the address before anybody else can
	// reach the server.
	Keep(ctx context.Context, first func(ctx context.Context, addr string) error) error
	// Kill ends a running server by SIGKILL, and returns once it has ended.
	Kill(ctx context.Context) error
	// Suspend lets a running server stand still. Its connections stay open and the kernel goes on
	// accepting new ones.
	Suspend(ctx context.Context) error
	// Resume lets it go on.
	Resume(ctx context.Context) error

	// AOF is the append-only file of the server, and where the files are: in parts, as since Redis 7.0,
	// or one.
	AOF() (file *AOF, in Files, parts bool)
}

// Fleet is the servers of one deployment and what can be done to each of them, wherever they live.
// Its methods are safe for concurrent use once the servers have been started.
type Fleet[M Machine] struct {
	Members     []cluster.Node // the masters, the replicas and the register
	Machines    map[string]M   // by node; of Sentinels, too
	Links       *Links
	Replication *Replication
	Doors       *Doors     // nil before the start
	Elections   *Sentinels // nil: there are none
	Deaths      *Deaths    // that nobody of the run brought about
	StartLimit  time.Duration
}

// NewFleet returns the servers of a deployment, without machines. Where a caller's context sets no earlier
// end, a server has limit to start: one that has not answered by then never will.
func NewFleet[M Machine](ctx context.Context, topo cluster.Topology, limit time.Duration) *Fleet[M] {
	f := &Fleet[M]{Members: topo.Nodes(), Machines: make(map[string]M), Deaths: NewDeaths(), StartLimit: limit}
	f.Links = NewLinks(ctx, func(ctx context.Context, name string) (net.Conn, error) {
		m, err := f.Machine(name)
		if err != nil {
			return nil, err
		}
		return m.Dial(ctx)
	})
	f.Replication = NewReplication(f.Members, f.Links, f.Locate)
	return f
}

// Nodes returns the masters, the replicas and the register, in this order and in
// the roles that they were started in.
func (f *Fleet[M]) Nodes() []cluster.Node { return slices.Clone(f.Members) }

// Primary returns the node that serves shard, or "" if there is no such shard.
func (f *Fleet[M]) Primary(shard int) string { return f.Replication.Primary(shard) }

// Alive reports whether node is running. A paused node is alive.
func (f *Fleet[M]) Alive(node string) bool {
	m, ok := f.Machines[node]
	return ok && runs(m)
}

// runs reports whether a server does.
func runs(m Machine) bool {
	_, running := m.Addr()
	return running
}

// Dial connects client to node through Link(client, node). A dead node refuses at
// once; the error is then a *net.OpError with syscall.ECONNREFUSED. ctx bounds the
// dial only, not the life of the connection.
func (f *Fleet[M]) Dial(ctx context.Context, client, name string) (net.Conn, error) {
	m, err := f.Machine(name)
	if err != nil {
		return nil, err
	}
	if ctx.Err() == nil && !runs(m) {
		return nil, Refused(name)
	}
	return f.Links.Dial(ctx, client, name)
}

// Link returns the interposer between client and node. A replica is the client of
// its master on the link that feeds it.
func (f *Fleet[M]) Link(client, node string) *wire.Link { return f.Links.Link(client, node) }

// Locate says where a node listens, and whether it can answer nobody.
func (f *Fleet[M]) Locate(name string) (addr string, silent bool, err error) {
	m, err := f.Machine(name)
	if err != nil {
		return "", false, err
	}
	addr, running := m.Addr()
	if !running {
		return "", false, NotRunning(name)
	}
	return addr, m.Silent(), nil
}

// Machine finds a node by name.
func (f *Fleet[M]) Machine(name string) (M, error) {
	if m, ok := f.Machines[name]; ok {
		return m, nil
	}
	var none M
	return none, Unknown(name, f.Members)
}

// Change calls do, which does what verb says to node, while nobody else starts,
// kills, stops or continues it.
func (f *Fleet[M]) Change(ctx context.Context, verb, name string, do func(context.Context, M) error) error {
	m, err := f.Machine(name)
	if err != nil {
		return err
	}
	ctx, cancel := f.Links.Bound(ctx)
	defer cancel()
	select {
	case m.Turn() <- struct{}{}:
		defer func() { <-m.Turn() }()
	case <-ctx.Done():
	}
	if ctx.Err() != nil {
		return fmt.Errorf("%s %s: %w", verb, name, context.Cause(ctx))
	}
	if err := do(ctx, m); err != nil {
		return fmt.Errorf("%s %s: %w", verb, name, err)
	}
	return nil
}

// Running is Change of a node that must run, and calls do with its address.
func (f *Fleet[M]) Running(ctx context.Context, verb, name string, do func(ctx context.Context, m M, addr string) error) error {
	return f.Change(ctx, verb, name, func(ctx context.Context, m M) error {
		addr, running := m.Addr()
		if !running {
			return NotRunning(name)
		}
		return do(ctx, m, addr)
	})
}

// Died is closed once a server has been seen to end that nobody of the run killed.
func (f *Fleet[M]) Died() <-chan struct{} { return f.Deaths.Died() }
