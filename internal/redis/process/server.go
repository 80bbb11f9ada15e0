package process

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockbench/lockbench/internal/osproc"
	"github.com/lockbench/lockbench/internal/redis/cluster"
	"github.com/lockbench/lockbench/internal/redis/node"
)

const (
	loopback = "127.0.0.1"
	// portTries bounds how often a server is started again because somebody else
	// took the port that was free a moment ago.
	portTries = 20
	// poll is the time between two looks at a server that is not ready yet.
	poll = time.Millisecond
	// drain is how long a dead server's output is read for. A child that was saving a
	// snapshot for a replica keeps it open, and ends by itself within milliseconds.
	drain = time.Second
)

// errPortTaken says that another process listens on the port.
var errPortTaken = errors.New("port is taken by another process")

// server is one node: a redis-server that can be killed and started again.
type server struct {
	cluster *Cluster
	node    cluster.Node
	dir     string
	host    string // its address
	// arguments are what a server at that port is started with, once its directory is there.
	// Nil: what every server is.
	arguments func(port int) ([]string, error)

	// clusterMode says that it is a Redis Cluster of one node, which serves all slots.
	clusterMode bool

	// turn is a lock that a context can give up on. Its owner alone starts, kills,
	// stops or continues the process.
	turn chan struct{}

	aof node.AOF // guarded by turn

	mu     sync.Mutex
	run    *run // the latest; nil before the first start
	paused bool
}

func (c *Cluster) newServer(n cluster.Node, dir string) *server {
	return &server{cluster: c, node: n, dir: dir, host: loopback, turn: make(chan struct{}, 1)}
}

// current returns the running process, or nil if there is none.
func (s *server) current() *run {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.run == nil || s.run.ended() {
		return nil
	}
	return s.run
}

// latest returns the process started last, which may have ended, or nil if there was none.
func (s *server) latest() *run {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.run
}

// port returns the port used last, or 0 if there was none.
func (s *server) port() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.run == nil {
		return 0
	}
	return s.run.port
}

func (s *server) set(r *run) {
	s.mu.Lock()
	s.run, s.paused = r, false
	s.mu.Unlock()
	s.cluster.watch(s, r)
}

func (s *server) setPaused(paused bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.paused = paused
}

// launch starts the server with what is in its directory, and calls first with its
// address once it answers and before anybody else can reach it.
func (s *server) launch(ctx context.Context, prog program, first func(ctx context.Context, addr string) error) error {
	port := s.port()
	for range portTries {
		if port == 0 {
			var err error
			if port, err = freePort(ctx, s.host); err != nil {
				return err
			}
			if s.clusterMode && port > node.HighestClusterPort {
				port = 0
				continue
			}
		}
		args := prog.args(port, s.dir)
		if s.arguments != nil {
			var err error
			if args, err = s.arguments(port); err != nil {
				return err
			}
		}
		args = append(args, s.aof.Options()...)
		if s.clusterMode {
			args = append(args, node.ClusterArgs()...)
		}
		r, err := startRun(prog, s.cluster.launcher, s.host, port, s.dir, args, &output{node: s.node.Name, log: s.cluster.log})
		if err != nil {
			return err
		}
		if err = r.ready(ctx); err == nil {
			err = r.startClock(ctx, prog, s.dir)
		}
		if err == nil {
			err = first(ctx, r.addr())
		}
		if err == nil {
			s.set(r)
			return nil
		}
		if err := r.kill(); err != nil {
			return err
		}
		if !errors.Is(err, errPortTaken) {
			return err
		}
		port = 0
	}
	return fmt.Errorf("%d free ports in a row were taken by other processes before the server could listen", portTries)
}

// freePort returns a port of host that nobody listens on just now.
func freePort(ctx context.Context, host string) (int, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		return 0, err
	}
	port := l.Addr().(*net.TCPAddr).Port
	return port, l.Close()
}

// run is one redis-server process, from start to death.
type run struct {
	process *os.Process
	host    string
	port    int
	out     *output
	done    chan struct{} // closed once the process is gone and waited for
	wanted  atomic.Bool   // that it ends; set before it is killed
	exit    error         // how it ended; valid after done
	clock   node.Faketime // of a server whose clock can be set
}

func startRun(prog program, l *osproc.Launcher, host string, port int, dir string, args []string, out *output) (*run, error) {
	cmd := exec.Command(prog.path, args...)
	cmd.Dir = dir
	cmd.Stdout, cmd.Stderr = out, out
	cmd.WaitDelay = drain
	if prog.faketime != "" {
		if err := writeClock(dir, node.FaketimeStart()); err != nil {
			return nil, err
		}
		cmd.Env = append(osproc.Environment(), node.FaketimeEnv(prog.faketime, clockFile)...)
	}
	if err := l.Start(cmd); err != nil {
		return nil, err
	}
	r := &run{process: cmd.Process, host: host, port: port, out: out, done: make(chan struct{})}
	go func() {
		defer close(r.done)
		r.exit = cmd.Wait()
		if prog.faketime != "" {
			removeShared(r.process.Pid)
		}
	}()
	return r, nil
}

func (r *run) addr() string { return net.JoinHostPort(r.host, strconv.Itoa(r.port)) }

func (r *run) ended() bool {
	select {
	case <-r.done:
		return true
	default:
		return false
	}
}

// kill sends SIGKILL and waits until the process is gone. One that has ended by itself is not
// killed any more.
func (r *run) kill() error {
	if !r.ended() {
		r.wanted.Store(true)
	}
	if err := r.process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("kill process %d: %w", r.process.Pid, err)
	}
	<-r.done
	return nil
}

// ready returns once this very process answers on its port. Two runs side by side
// may be given the same free port, and then the wrong server answers.
func (r *run) ready(ctx context.Context) error {
	probing, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-r.done:
			cancel()
		case <-probing.Done():
		}
	}()
	pause := time.NewTicker(poll)
	defer pause.Stop()
	for {
		pid, err := askProcessID(probing, r.addr())
		if err == nil && pid == r.process.Pid {
			return nil
		}
		if err == nil {
			return errPortTaken
		}
		select {
		case <-r.done:
			if strings.Contains(r.out.String(), "Address already in use") {
				return errPortTaken
			}
			return fmt.Errorf("redis-server ended (%w) before it answered; its last output:\n%s", r.exit, r.out)
		case <-ctx.Done():
			return fmt.Errorf("redis-server does not answer yet: %w; last look: %w", context.Cause(ctx), err)
		case <-pause.C:
		}
	}
}
