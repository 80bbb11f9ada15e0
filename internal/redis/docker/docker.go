// Package docker is a cluster of redis-server containers on a network of their own,
// with real replication. It needs a Docker engine on this machine; the image is built
// when it is missing.
//
//	client ── in-process pipe ── wire.Link ── TCP ── container address:6379
//	replica ── TCP ── our listener on the bridge ── wire.Link ── TCP ── master
//
// Everything carries the label lockbench.run=<id>. Close removes it; what a killed
// harness left, Clean removes.
package docker

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockbench/lockbench/internal/redis/cluster"
	"github.com/lockbench/lockbench/internal/redis/node"
	"github.com/lockbench/lockbench/internal/wire"
)

const (
	// startLimit bounds the start of a cluster where the caller's context sets no
	// earlier end. Building the image has a limit of its own.
	startLimit = 60 * time.Second
	// closeLimit bounds Close as a whole.
	closeLimit = 60 * time.Second
)

// Options say where the traces of a run go. The zero value works.
type Options struct {
	Image string    // of the user's own, which is pulled if it is missing; empty: Image, which is built
	Log   io.Writer // gets warnings and what takes long, line by line; nil: nobody
	// Clocks asks for servers whose clocks can be set, if the image is fit for it: libfaketime is
	// loaded into all of them, and each look at the clock reads a file.
	Clocks bool
}

// Cluster is a deployment of containers. It implements cluster.Cluster, Killer,
// Restarter, PowerCutter, Pauser, ClockSetter, Commander, Replicator, Demoter, Sentinel,
// Processes, Disconnecter, PacketDropper and DeathWatcher.
type Cluster struct {
	id     string
	engine *engine
	log    *lineLog
	close  func() error
	logDir atomic.Pointer[string]
	bridge string                 // name of the network; empty before start
	filter atomic.Pointer[string] // the iptables that works; nil before the first try

	noClocks error // why clocks cannot be set; nil: they can

	image   string // of every container
	product string // name and version of the servers

	*fleet
}

// fleet is what is done to servers wherever they are.
type fleet = node.Fleet[*server]

// LogTo makes Close write <node>.log of every container to dir.
func (c *Cluster) LogTo(dir string) { c.logDir.Store(&dir) }

var (
	_ cluster.Cluster       = (*Cluster)(nil)
	_ cluster.Killer        = (*Cluster)(nil)
	_ cluster.Restarter     = (*Cluster)(nil)
	_ cluster.Pauser        = (*Cluster)(nil)
	_ cluster.Commander     = (*Cluster)(nil)
	_ cluster.Replicator    = (*Cluster)(nil)
	_ cluster.Disconnecter  = (*Cluster)(nil)
	_ cluster.PacketDropper = (*Cluster)(nil)
	_ cluster.ClockSetter   = (*Cluster)(nil)
	_ cluster.Processes     = (*Cluster)(nil)
	_ cluster.Demoter       = (*Cluster)(nil)
	_ cluster.Sentinel      = (*Cluster)(nil)
	_ cluster.PowerCutter   = (*Cluster)(nil)
	_ cluster.Lagger        = (*Cluster)(nil)
	_ cluster.CommandTeller = (*Cluster)(nil)
)

// New starts the containers of topo and returns once all of them answer and every
// replica is in step with its master. A failed New leaves nothing behind. Without a
// usable engine or image the error is a *MissingError. ctx bounds the start only.
func New(ctx context.Context, topo cluster.Topology, opt Options) (*Cluster, error) {
	if err := node.Check(topo); err != nil {
		return nil, err
	}
	log := &lineLog{w: opt.Log}
	e, err := connect(ctx)
	if err != nil {
		return nil, err
	}
	if err := e.ensure(ctx, opt.Image, log); err != nil {
		return nil, errors.Join(err, e.close())
	}
	if err := prepareTestcontainers(); err != nil {
		return nil, errors.Join(err, e.close())
	}
	image, noClocks := cmp.Or(opt.Image, Image), node.ErrClocksNotAsked
	if opt.Clocks {
		if noClocks, err = e.tryFaketime(ctx, image); err != nil {
			return nil, errors.Join(err, e.close())
		}
	}
	c := newCluster(ctx, topo, e, log, image, noClocks)
	if err := c.start(ctx); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

func newCluster(ctx context.Context, topo cluster.Topology, e *engine, log *lineLog, image string, noClocks error) *Cluster {
	c := &Cluster{
		id:       newID(),
		engine:   e,
		log:      log,
		image:    image,
		noClocks: noClocks,
		fleet:    node.NewFleet[*server](ctx, topo, startLimit),
	}
	for _, n := range c.Members {
		s := c.newServer(n, noClocks == nil)
		if topo.ClusterMode && n.Role == cluster.Master {
			s.command, s.clusterMode = append(s.command, node.ClusterArgs()...), true
		}
		c.Machines[n.Name] = s
	}
	for i := range topo.Sentinels {
		name := cluster.SentinelName(i)
		c.Machines[name] = c.newServer(cluster.Node{Name: name}, false)
	}
	c.close = sync.OnceValue(c.shutDown)
	return c
}

// newID draws the name of a run. It must differ from that of every run on the same
// engine, also of one with the same seed.
func newID() string {
	var b [6]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// start makes the network, starts all containers at once and then the replication
// between them.
func (c *Cluster) start(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, startLimit, fmt.Errorf("gave up after %v", startLimit))
	defer cancel()
	labels, err := ownLabels(c.id)
	if err != nil {
		return err
	}
	bridge, err := c.engine.newBridge(ctx, labels)
	if err != nil {
		return withCause(ctx, fmt.Errorf("make a network: %w", err))
	}
	c.bridge = bridge.name
	names := c.names()
	addr := bridge.gateway
	for _, name := range names {
		addr = addr.Next()
		c.Machines[name].ip = addr
	}
	if err := c.openDoors(ctx, bridge.gateway.String(), names); err != nil {
		return withCause(ctx, err)
	}
	start := func(names []string) error {
		return node.InParallel(ctx, names, func(ctx context.Context, name string) error {
			return c.Change(ctx, "start", name, func(ctx context.Context, s *server) error {
				if err := s.create(ctx, c.image, c.id, bridge.name, labels); err != nil {
					return err
				}
				return c.started(ctx, s, func(ctx context.Context) error {
					if !s.clusterMode {
						return nil
					}
					return node.ServeAllSlots(ctx, s.addr())
				})
			})
		})
	}
	if err := start(names[:len(c.Members)]); err != nil {
		return withCause(ctx, err)
	}
	if err := c.askProduct(ctx); err != nil {
		return withCause(ctx, err)
	}
	if err := c.Replication.Start(ctx, c.Doors); err != nil || c.Elections == nil {
		return withCause(ctx, err)
	}
	// Not before: Sentinels look at a replica that is not in step only every ten seconds.
	if err := start(names[len(c.Members):]); err != nil {
		return withCause(ctx, err)
	}
	return withCause(ctx, c.Elections.Start(ctx))
}

// askProduct asks the first node which server it is. All are of one image.
func (c *Cluster) askProduct(ctx context.Context) error {
	return node.Admin(ctx, c.Machines[c.Members[0].Name].addr(), func(conn *wire.Conn) (err error) {
		c.product, err = node.Product(ctx, conn)
		return err
	})
}

// names are those of all servers: the nodes, in their order, and then the Sentinels.
func (c *Cluster) names() []string {
	var names []string
	for _, n := range c.Members {
		names = append(names, n.Name)
	}
	for i := range len(c.Machines) - len(c.Members) {
		names = append(names, cluster.SentinelName(i))
	}
	return names
}

// Product returns the name and version of the servers, such as "Valkey 8.1.1"; empty if they do not tell.
func (c *Cluster) Product() string { return c.product }

// ID is the value of the label lockbench.run on everything that belongs to the cluster.
func (c *Cluster) ID() string { return c.id }

// Close collects the logs, removes all containers and their network, and closes all
// connections. Later calls return what the first one did.
func (c *Cluster) Close() error { return c.close() }

func (c *Cluster) shutDown() error {
	ctx, cancel := context.WithTimeoutCause(context.Background(), closeLimit, fmt.Errorf("gave up after %v", closeLimit))
	defer cancel()
	c.Links.End()
	for _, s := range c.Machines {
		select {
		case s.turn <- struct{}{}: // for good: changes that wait see that the cluster is closed
		case <-ctx.Done():
		}
	}
	var errs []error
	if dir := c.logDir.Load(); dir != nil {
		c.endAll(ctx)
		errs = append(errs, c.saveLogs(ctx, *dir))
	}
	if err := c.engine.remove(ctx, c.id); err != nil {
		errs = append(errs, fmt.Errorf("%w; to remove what is left: lockbench clean", withCause(ctx, err)))
	}
	for _, s := range c.Machines {
		s.hangUp()
	}
	if c.Doors != nil {
		errs = append(errs, c.Doors.Close())
	}
	c.Links.Close()
	errs = append(errs, c.engine.close())
	return errors.Join(errs...)
}
