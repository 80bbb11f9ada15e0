// Package process is a cluster of real redis-server processes on loopback, with
// real replication. It needs redis-server 6.2 or newer.
//
// Servers keep nothing unless told to, and die with the harness: on Linux even when it
// is killed by SIGKILL, elsewhere with Close. Links and replication are those of package node.
package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/lockbench/lockbench/internal/osproc"
	"github.com/lockbench/lockbench/internal/redis/cluster"
	"github.com/lockbench/lockbench/internal/redis/node"
)

// startLimit bounds the start of servers where the caller's context sets no earlier
// end: a server that has not answered by then never will.
const startLimit = 30 * time.Second

// Options say where servers come from and where they live. The zero value works.
type Options struct {
	Server string    // name or path of the server; empty: redis-server on PATH
	Dir    string    // parent of the temporary directory; empty: os.TempDir()
	Log    io.Writer // gets what servers print and what is swept; nil: nobody
	// Clocks asks for servers whose clocks can be set, if libfaketime is installed: it is
	// then loaded into all of them, and each look at the clock reads a file, which makes a
	// command two or three times as expensive.
	Clocks bool
}

// Cluster is a deployment of redis-server processes. It implements cluster.Cluster,
// Killer, Restarter, PowerCutter, Pauser, ClockSetter, Commander, Replicator, Demoter,
// Sentinel, Processes and DeathWatcher.
type Cluster struct {
	prog     program
	dir      string
	log      *lineLog
	launcher *osproc.Launcher

	close func() error

	noClocks error // why clocks cannot be set

	*fleet
}

// fleet is what is done to servers wherever they are.
type fleet = node.Fleet[*server]

var (
	_ cluster.Cluster    = (*Cluster)(nil)
	_ cluster.Killer     = (*Cluster)(nil)
	_ cluster.Restarter  = (*Cluster)(nil)
	_ cluster.Pauser     = (*Cluster)(nil)
	_ cluster.Commander  = (*Cluster)(nil)
	_ cluster.Replicator = (*Cluster)(nil)
	_ cluster.Demoter    = (*Cluster)(nil)
	_ cluster.Sentinel   = (*Cluster)(nil)
	_ cluster.Processes  = (*Cluster)(nil)

	_ cluster.PowerCutter   = (*Cluster)(nil)
	_ cluster.Lagger        = (*Cluster)(nil)
	_ cluster.CommandTeller = (*Cluster)(nil)

	_ cluster.ClockSetter = (*Cluster)(nil)
)

// Find returns the name and version of a server, such as "Valkey 8.1.1": of a path, or of a name on PATH. If it is none that
// this backend can use, the error says why.
func Find(ctx context.Context, server string) (product string, err error) {
	prog, err := findProgram(ctx, server)
	return prog.product, err
}

// New starts the servers of topo and returns once all of them answer and every
// replica is in step with its master. A failed New leaves nothing behind. Without a
// usable redis-server the error is a *MissingError. ctx bounds the start only.
func New(ctx context.Context, topo cluster.Topology, opt Options) (*Cluster, error) {
	if err := node.Check(topo); err != nil {
		return nil, err
	}
	prog, err := findProgram(ctx, opt.Server)
	if err != nil {
		return nil, err
	}
	noClocks := node.ErrClocksNotAsked
	if opt.Clocks {
		if prog.faketime, noClocks = findFaketime(ctx, prog); ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
	}
	log := &lineLog{w: opt.Log}
	dir, err := newWorkDir(opt.Dir, log)
	if err != nil {
		return nil, fmt.Errorf("make a temporary directory: %w", err)
	}
	c := newCluster(ctx, topo, prog, dir, log)
	c.noClocks = noClocks
	if err := c.start(ctx, topo); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

func newCluster(ctx context.Context, topo cluster.Topology, prog program, dir string, log *lineLog) *Cluster {
	c := &Cluster{
		prog:     prog,
		dir:      dir,
		log:      log,
		launcher: osproc.NewLauncher(),
		fleet:    node.NewFleet[*server](ctx, topo, startLimit),
	}
	for _, n := range c.Members {
		s := c.newServer(n, filepath.Join(dir, n.Name))
		s.clusterMode = topo.ClusterMode && n.Role == cluster.Master
		c.Machines[n.Name] = s
	}
	c.close = sync.OnceValue(c.shutDown)
	return c
}

// start starts all servers at once and then the replication between them.
func (c *Cluster) start(ctx context.Context, topo cluster.Topology) error {
	ctx, cancel := context.WithTimeoutCause(ctx, startLimit, fmt.Errorf("gave up after %v", startLimit))
	defer cancel()
	if err := c.openDoors(ctx, topo); err != nil {
		return err
	}
	err := node.InParallel(ctx, c.Members, func(ctx context.Context, n cluster.Node) error {
		return c.Change(ctx, "start", n.Name, func(ctx context.Context, s *server) error {
			return s.Start(ctx)
		})
	})
	if err != nil {
		return err
	}
	if err := c.Replication.Start(ctx, c.Doors); err != nil {
		return err
	}
	return c.startSentinels(ctx)
}

// Product returns the name and version of the servers, such as "Valkey 8.1.1".
func (c *Cluster) Product() string { return c.prog.product }

// Close kills all servers and waits for them, closes all connections and removes
// the temporary directory. Later calls return what the first one did.
func (c *Cluster) Close() error { return c.close() }

func (c *Cluster) shutDown() error {
	c.Links.End()
	servers := slices.Collect(maps.Values(c.Machines))
	errs := make([]error, len(servers))
	var kills sync.WaitGroup
	for i, s := range servers {
		kills.Go(func() {
			s.turn <- struct{}{} // for good: changes that wait see that the cluster is closed
			if r := s.current(); r != nil {
				errs[i] = r.kill()
			}
		})
	}
	kills.Wait()
	if c.Doors != nil {
		errs = append(errs, c.Doors.Close())
	}
	c.Links.Close()
	c.launcher.Stop()
	errs = append(errs, os.RemoveAll(c.dir))
	return errors.Join(errs...)
}
