package process

import (
	"context"
	"errors"
	"fmt"

	"github.com/lockbench/lockbench/internal/osproc"
	"github.com/lockbench/lockbench/internal/redis/node"
)

// Kill stops node by SIGKILL and returns once it is gone. The kernel closes its
// connections and later dials are refused. A paused node can be killed.
func (c *Cluster) Kill(ctx context.Context, name string) error {
	return c.change(ctx, "kill", name, func(ctx context.Context, s *server) error {
		r := s.current()
		if r == nil {
			return node.NotRunning(name)
		}
		c.repl.LastLook(ctx, name)
		return r.kill()
	})
}

// Restart starts a killed node again, empty, and returns once it answers. A replica
// follows its master again, unless it had been promoted; Sync waits until it has caught up.
func (c *Cluster) Restart(ctx context.Context, name string) error {
	return c.change(ctx, "restart", name, func(ctx context.Context, s *server) error {
		if s.current() != nil {
			return errors.New("it is still running; kill it first")
		}
		ctx, cancel := context.WithTimeoutCause(ctx, startLimit, fmt.Errorf("gave up after %v", startLimit))
		defer cancel()
		if err := s.start(ctx, c.prog, c.launcher, c.log); err != nil {
			return err
		}
		return c.repl.Follow(ctx, name)
	})
}

// Pause stops node by SIGSTOP and returns once it stands still. Its connections stay
// open and the kernel goes on accepting new ones.
func (c *Cluster) Pause(ctx context.Context, name string) error {
	return c.change(ctx, "pause", name, func(ctx context.Context, s *server) error {
		p, err := s.handle(ctx)
		if err != nil {
			return err
		}
		c.repl.LastLook(ctx, name)
		s.setPaused(true)
		return p.Suspend(ctx)
	})
}

// Resume lets a paused node go on by SIGCONT.
func (c *Cluster) Resume(ctx context.Context, name string) error {
	return c.change(ctx, "resume", name, func(ctx context.Context, s *server) error {
		p, err := s.handle(ctx)
		if err != nil {
			return err
		}
		if err := p.Resume(ctx); err != nil {
			return err
		}
		s.setPaused(false)
		return nil
	})
}

// handle returns the running process for signals.
func (s *server) handle(ctx context.Context) (*osproc.Process, error) {
	r := s.current()
	if r == nil {
		return nil, node.NotRunning(s.node.Name)
	}
	return osproc.Find(ctx, r.process.Pid)
}
