package docker

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/types/container"
	apinetwork "github.com/moby/moby/api/types/network"
	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/network"

	"github.com/lockbench/lockbench/internal/osproc"
	"github.com/lockbench/lockbench/internal/redis/cluster"
	"github.com/lockbench/lockbench/internal/redis/node"
	"github.com/lockbench/lockbench/internal/wire"
)

const (
	redisPort = "6379"
	// poll is the time between two looks at a server that is not ready yet.
	poll = 5 * time.Millisecond
	// pingTry bounds one of these looks: packets to an address that is not up yet
	// vanish, and TCP comes again only after a second.
	pingTry = 200 * time.Millisecond
	// watchPause keeps a watch that fails from spinning.
	watchPause = time.Second
)

// command starts a server that keeps nothing on disk (but see Persist) and feeds a new
// replica at once. Why the first snapshot goes through a file is said in package process.
func command(clocks bool) []string {
	cmd := []string{"sh", "-c", script, "sh"}
	if clocks {
		cmd = append(cmd, "sh", "-c", underFaketime(), "sh")
	}
	return append(cmd,
		"redis-server",
		"--port", redisPort,
		"--bind", "0.0.0.0",
		"--protected-mode", "no",
		"--dir", dataDir,
		"--save", "",
		"--appendonly", "no",
		"--repl-diskless-sync", "no",
		"--hz", "100",
		"--enable-debug-command", "yes",
	)
}

// server is one node: a container that can be killed and started again.
type server struct {
	cluster *Cluster
	node    cluster.Node
	ip      netip.Addr
	port    string
	command []string
	files   []testcontainers.ContainerFile // that it finds when it starts
	tmpfs   map[string]string              // directories in memory, with their options
	clocks  bool                           // its clock can be set
	// clusterMode says that it is a Redis Cluster of one node, which serves all slots.
	clusterMode bool

	// turn is a lock that a context can give up on. Its owner alone starts, kills,
	// stops or continues the container.
	turn chan struct{}

	aof node.AOF // guarded by turn

	mu        sync.Mutex
	container *testcontainers.DockerContainer // nil before it is created
	run       *run                            // the latest; nil before the first start
	clock     node.Faketime                   // of the latest run, if clocks can be set; guarded by turn
	paused    bool
	conns     map[*conn]bool               // open ones
	unplugged *apinetwork.EndpointSettings // how it was connected, while it is off the network
	drops     map[cluster.Path]drop
}

// run is the life of a container from one start to its end.
type run struct {
	done    chan struct{}   // closed once the engine says that the container does not run
	wanted  atomic.Bool     // that it ends; set before it is killed
	dead    atomic.Bool     // its process was killed; the engine may be some time in hearing of it
	process *osproc.Process // of the server; nil if it cannot be seen from here. Set before the run is open
	open    bool            // whether its server has answered; guarded by the server
}

func (c *Cluster) newServer(n cluster.Node, clocks bool) *server {
	s := &server{
		cluster: c, node: n, port: redisPort, command: command(clocks), tmpfs: make(map[string]string), clocks: clocks,
		turn: make(chan struct{}, 1), conns: make(map[*conn]bool),
	}
	if clocks {
		s.tmpfs[clockDir] = "rw"
	}
	return s
}

func (s *server) addr() string { return net.JoinHostPort(s.ip.String(), s.port) }

// current returns the running container's run, or nil if there is none whose server has
// answered.
func (s *server) current() *run {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.running()
}

func (s *server) running() *run {
	if s.run == nil || !s.run.open || s.run.dead.Load() {
		return nil
	}
	select {
	case <-s.run.done:
		return nil
	default:
		return s.run
	}
}

func (s *server) begin() *run {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dropConns() // if the last end has not been seen to the end
	s.run, s.paused = &run{done: make(chan struct{})}, false
	return s.run
}

// open lets everybody reach the server.
func (s *server) open(r *run) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.open = true
}

func (s *server) setPaused(paused bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.paused = paused
}

// id is the container's, or "" before it is created.
func (s *server) id() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.container == nil {
		return ""
	}
	return s.container.GetContainerID()
}

// create makes and starts the container of the server. Once asked for it is waited
// for, also when ctx ends: a container that comes later would not be removed.
func (s *server) create(ctx context.Context, image, run, bridge string, labels map[string]string) error {
	err := call(context.WithoutCancel(ctx), "run a container", func(ctx context.Context) error {
		ctr, err := testcontainers.Run(ctx, image,
			testcontainers.WithEntrypoint(s.command[0]), // and not what an image of the user's own begins with
			testcontainers.WithName("lockbench-"+run+"-"+s.node.Name),
			testcontainers.WithLabels(maps.Clone(labels)),
			testcontainers.WithCmd(s.command[1:]...),
			testcontainers.WithFiles(s.files...),
			testcontainers.WithTmpfs(s.tmpfs),
			network.WithNetworkName([]string{s.node.Name}, bridge),
			testcontainers.WithEndpointSettingsModifier(func(settings map[string]*apinetwork.EndpointSettings) {
				if endpoint, ok := settings[bridge]; ok {
					endpoint.IPAMConfig = &apinetwork.EndpointIPAMConfig{IPv4Address: s.ip}
				}
			}),
			testcontainers.WithHostConfigModifier(func(h *container.HostConfig) {
				h.CapAdd = append(h.CapAdd, "NET_ADMIN") // for iptables inside
			}))
		if ctr != nil {
			s.mu.Lock()
			s.container = ctr
			s.mu.Unlock()
		}
		return err
	})
	if err == nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return err
}

// watch closes r.done when the container has ended, for whatever reason.
func (c *Cluster) watch(ctx context.Context, s *server, r *run) {
	defer c.mourn(ctx, s, r)
	defer s.hangUp()
	defer close(r.done)
	for {
		wait := c.engine.cli.ContainerWait(ctx, s.id(), client.ContainerWaitOptions{Condition: container.WaitConditionNotRunning})
		select {
		case <-wait.Result:
			return
		case err := <-wait.Error:
			if ctx.Err() != nil || errdefs.IsNotFound(err) {
				return
			}
			c.log.printf("watch %s: %v", s.node.Name, err)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(watchPause):
		}
	}
}

// started watches over a container that has just been started and returns once its
// server answers. Before anybody else can reach it, it calls first.
func (c *Cluster) started(ctx context.Context, s *server, first func(ctx context.Context) error) error {
	r := s.begin()
	if !c.Links.Go(func(ctx context.Context) { c.watch(ctx, s, r) }) {
		close(r.done)
		return node.ErrClosed
	}
	if err := c.answers(ctx, s, r); err != nil {
		return err
	}
	if err := c.startClock(ctx, s); err != nil {
		return err
	}
	if err := first(ctx); err != nil {
		return err
	}
	var err error
	if r.process, err = c.process(ctx, s); err != nil {
		return err
	}
	s.open(r)
	return nil
}

// answers returns once the server of a running container answers.
func (c *Cluster) answers(ctx context.Context, s *server, r *run) error {
	pause := time.NewTicker(poll)
	defer pause.Stop()
	for {
		err := ping(ctx, s.addr())
		if err == nil {
			return nil
		}
		select {
		case <-r.done:
			return fmt.Errorf("the container ended before its server answered; its last output:\n%s", c.lastOutput(ctx, s))
		case <-ctx.Done():
			return fmt.Errorf("its server does not answer yet: %w; last look: %w", context.Cause(ctx), err)
		case <-pause.C:
		}
	}
}

func ping(ctx context.Context, addr string) error {
	ctx, cancel := context.WithTimeout(ctx, pingTry)
	defer cancel()
	return node.Admin(ctx, addr, func(conn *wire.Conn) error {
		_, err := node.Do(ctx, conn, "PING")
		return err
	})
}

// conn is a connection to a server. When a container ends its network goes with it,
// and the last packets may not get out: then nobody but us ends the connection.
type conn struct {
	*net.TCPConn
	server *server
}

// Dial connects to the server.
func (s *server) Dial(ctx context.Context) (net.Conn, error) {
	if s.current() == nil {
		return nil, node.Refused(s.node.Name)
	}
	var d net.Dialer
	nc, err := d.DialContext(ctx, "tcp", s.addr())
	if err != nil {
		return nil, err
	}
	c := &conn{TCPConn: nc.(*net.TCPConn), server: s}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running() == nil {
		return nil, errors.Join(node.Refused(s.node.Name), c.TCPConn.Close())
	}
	s.conns[c] = true
	return c, nil
}

// Close closes the connection.
func (c *conn) Close() error {
	c.server.mu.Lock()
	delete(c.server.conns, c)
	c.server.mu.Unlock()
	return c.TCPConn.Close()
}

// hangUp ends all connections to a container that has ended.
func (s *server) hangUp() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running() == nil { // else it has been started again, and the connections are its own
		s.dropConns()
	}
}

func (s *server) dropConns() {
	for c := range s.conns {
		_ = c.TCPConn.Close() // there is nothing left at the other end
		delete(s.conns, c)
	}
}
