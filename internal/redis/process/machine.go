package process

import (
	"context"
	"net"
	"os"

	"github.com/lockbench/lockbench/internal/osproc"
	"github.com/lockbench/lockbench/internal/redis/node"
)

var _ node.Machine = (*server)(nil)

// Turn is a lock that a context can give up on.
func (s *server) Turn() chan struct{} { return s.turn }

// Addr returns where the running process listens, and false if there is none.
func (s *server) Addr() (addr string, running bool) {
	r := s.current()
	if r == nil {
		return "", false
	}
	return r.addr(), true
}

// Dial opens a TCP connection to the running process.
func (s *server) Dial(ctx context.Context) (net.Conn, error) {
	addr, running := s.Addr()
	if !running {
		return nil, node.Refused(s.node.Name)
	}
	var d net.Dialer
	return d.DialContext(ctx, "tcp", addr)
}

// Paused reports whether the process stands still.
func (s *server) Paused() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.paused
}

// Silent reports whether the process stands still: nothing else keeps it from answering.
func (s *server) Silent() bool { return s.Paused() }

// Start starts the server in an empty directory and returns once it answers. It
// keeps the port it had, if that is still free: nobody outside sees the number.
func (s *server) Start(ctx context.Context) error { return s.startAs(ctx, s.cluster.prog) }

// startAs is Start of another program.
func (s *server) startAs(ctx context.Context, prog program) error {
	if err := os.RemoveAll(s.dir); err != nil {
		return err
	}
	if err := os.Mkdir(s.dir, 0o700); err != nil {
		return err
	}
	s.aof = s.aof.Anew()
	return s.launch(ctx, prog, func(ctx context.Context, addr string) error {
		if !s.clusterMode {
			return nil
		}
		return node.ServeAllSlots(ctx, addr)
	})
}

// Keep starts the server with what is in its directory, and calls first with its address
// once it answers.
func (s *server) Keep(ctx context.Context, first func(ctx context.Context, addr string) error) error {
	return s.launch(ctx, s.cluster.prog, first)
}

// Kill sends SIGKILL and waits until the process is gone.
func (s *server) Kill(context.Context) error {
	if r := s.current(); r != nil {
		return r.kill()
	}
	return nil
}

// Suspend stops the process by SIGSTOP and returns once it stands still.
func (s *server) Suspend(ctx context.Context) error {
	p, err := s.handle(ctx)
	if err != nil {
		return err
	}
	s.setPaused(true)
	return p.Suspend(ctx)
}

// Resume lets the process go on by SIGCONT.
func (s *server) Resume(ctx context.Context) error {
	p, err := s.handle(ctx)
	if err != nil {
		return err
	}
	if err := p.Resume(ctx); err != nil {
		return err
	}
	s.setPaused(false)
	return nil
}

// handle returns the running process for signals.
func (s *server) handle(ctx context.Context) (*osproc.Process, error) {
	r := s.current()
	if r == nil {
		return nil, node.NotRunning(s.node.Name)
	}
	return osproc.Find(ctx, r.process.Pid)
}

// AOF is the append-only file of the server, and its directory.
func (s *server) AOF() (file *node.AOF, in node.Files, parts bool) {
	return &s.aof, files(s.dir), s.cluster.prog.atLeast(7, 0)
}
