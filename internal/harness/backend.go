package harness

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/redis/cluster"
	"github.com/lockbench/lockbench/internal/redis/embedded"
	"github.com/lockbench/lockbench/internal/redis/external"
	"github.com/lockbench/lockbench/internal/redis/process"
	"github.com/lockbench/lockbench/internal/sim"
)

// A Backend is where the servers of a run live. [Embedded], [Process], [External] and the package docker have them;
// the zero value stands for Embedded.
type Backend struct {
	Name  string
	Title string // what it is and what it needs, in a line
	// Type is a nil pointer to a deployment: which faults a deployment can have is a matter of its type alone.
	Type cluster.Cluster
	// Open brings up the servers of a run.
	Open func(context.Context, cluster.Topology, Opening) (Opened, error)
	// On returns the backend with another server than its own: a program, or an image. Nil: it cannot have one. The error says what
	// was found in its place.
	On func(ctx context.Context, server string) (Backend, error)
	// UsersOwn says that the servers are the user's own, and that nothing is done to them.
	UsersOwn bool
	// Refuses returns why it cannot have a topology. Nil: it can have any.
	Refuses func(cluster.Topology) error
	// Width is how many runs at a time that many processors bear, if there is memory for them. Nil: as many as
	// there are processors.
	Width func(processors int) int
	// Containers says that servers are containers, which take long to be taken down.
	Containers bool
}

// Opening says how servers are brought up.
type Opening struct {
	World  *sim.World // whose time they live in; nil on a backend that is not virtual
	Log    io.Writer  // optional: gets warnings, and what takes long
	Clocks bool       // the run sets their clocks
	// Scripts are those that servers in virtual time know from the beginning.
	Scripts []string
}

// Opened is the servers of a run, which are up.
type Opened struct {
	cluster.Cluster
	KeyPrefix string           // what every key of the run begins with
	Notes     []string         // what a reader of the run must know
	LogTo     func(dir string) // optional: lets Close write the servers' logs there
	Server    string           // their name and version, such as Valkey 8.1.1; empty: they are simulated, or do not tell
}

// Close ends the deployment, if there is one.
func (d Opened) Close() error {
	if d.Cluster == nil {
		return nil
	}
	return d.Cluster.Close()
}

// Virtual returns whether runs are in virtual time.
func (b Backend) Virtual() bool {
	_, ok := b.Type.(cluster.VirtualTime)
	return ok
}

// Unsupported returns why the backend cannot have a topology, or nil.
func (b Backend) Unsupported(topo cluster.Topology) error {
	if b.Refuses == nil {
		return nil
	}
	return b.Refuses(topo)
}

// Ready starts a server of the backend and stops it again. It returns why there can be none, such as a missing redis-server or image,
// or nil. In virtual time there always can.
func (b Backend) Ready(ctx context.Context) error {
	if b.Virtual() {
		return nil
	}
	servers, err := b.Open(ctx, cluster.Topology{Masters: 1}, Opening{})
	if err != nil {
		return err
	}
	return servers.Close()
}

// orDefault is Embedded in place of the zero value.
func (b Backend) orDefault() Backend {
	if b.Name == "" && b.Open == nil {
		return Embedded()
	}
	return b
}

// Embedded returns the backend of in-process servers in virtual time. Its runs share what is costly to make and never changes,
// such as compiled scripts.
func Embedded() Backend { return embeddedOnce() }

var embeddedOnce = sync.OnceValue(newEmbedded) //nolint:gochecknoglobals // what runs share shows in none of them, and compiling scripts takes a tenth of each

func newEmbedded() Backend {
	shared := new(embedded.Shared)
	return Backend{
		Name:  histories.BackendEmbedded,
		Title: "in-process servers in virtual time; needs nothing installed",
		Type:  (*embedded.Cluster)(nil),
		Open: func(_ context.Context, topo cluster.Topology, how Opening) (Opened, error) {
			c, err := embedded.New(how.World, topo, embedded.Options{Shared: shared, Scripts: how.Scripts})
			if err != nil {
				return Opened{}, err
			}
			d := Opened{Cluster: c}
			if topo.ClusterMode {
				d.Notes = []string{"cluster mode is simulated: commands on keys of different slots are refused, and all slots are on one node"}
			}
			return d, nil
		},
	}
}

// Process returns the backend of processes of the redis-server on PATH. It can be On another server that takes the same options,
// such as valkey-server: a path, or a name on PATH.
func Process() Backend { return processes("") }

// processes is the backend of processes of a server. Empty: redis-server on PATH.
func processes(server string) Backend {
	return Backend{
		Name:  histories.BackendProcess,
		Title: "real redis-server processes on loopback; needs redis-server 6.2 or newer on PATH",
		Type:  (*process.Cluster)(nil),
		Open: func(ctx context.Context, topo cluster.Topology, how Opening) (Opened, error) {
			c, err := process.New(ctx, topo, process.Options{Server: server, Clocks: how.Clocks})
			if err != nil {
				return Opened{}, err
			}
			return Opened{Cluster: c, Server: c.Product()}, nil
		},
		On: func(ctx context.Context, server string) (Backend, error) {
			if _, err := process.Find(ctx, server); err != nil {
				return Backend{}, err
			}
			return processes(server), nil
		},
		Width: func(processors int) int { return min(8*processors, 32) },
	}
}

// External returns the backend of the user's own servers. Without servers it can be planned for, but not opened.
func External(servers Servers) Backend {
	return Backend{
		Name:     histories.BackendExternal,
		Title:    "servers of your own (--redis), to which nothing is done; only clients and connections fail",
		Type:     (*external.Cluster)(nil),
		UsersOwn: true,
		Open: func(ctx context.Context, topo cluster.Topology, _ Opening) (Opened, error) {
			c, err := external.New(ctx, topo, servers, external.Options{State: stateDir()})
			if err != nil {
				return Opened{}, err
			}
			return Opened{Cluster: c, KeyPrefix: c.KeyPrefix(), Notes: c.Notes(), Server: c.Product()}, nil
		},
		Refuses: func(topo cluster.Topology) error {
			switch {
			case topo.Replicas > 0:
				return notOwnServers()
			case servers.Masters() == "":
				return nil
			}
			return servers.Suit(topo)
		},
		Width: func(int) int { return 4 }, // others may need the servers, too
	}
}

func notOwnServers() error {
	return fmt.Errorf("backend %s does nothing to servers that are not its own; use --backend %s, %s or %s",
		histories.BackendExternal, histories.BackendEmbedded, histories.BackendProcess, histories.BackendDocker)
}

// suits returns why the backend cannot have the servers of c, or nil.
func (c Config) suits() error {
	topo := c.topology()
	err := c.Backend.Unsupported(topo)
	switch {
	case err == nil || topo.Replicas == 0:
		return err
	case c.Replicas > 0:
		return &UnfitError{fmt.Errorf("scenario %s fails over to a replica, and %w", c.Name, err)}
	}
	return &UnfitError{fmt.Errorf("lock %s waits for a replica, and %w", c.Lock.Name, err)}
}

// openable returns why the backend cannot be opened, or nil.
func (b Backend) openable() error {
	if b.Open == nil {
		return errors.New("backend " + b.Name + " cannot be opened; want harness.Embedded, Process or External, or docker.Backend")
	}
	return nil
}
