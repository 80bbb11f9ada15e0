package docker

import (
	"context"
	"errors"
	"fmt"

	"github.com/moby/moby/client"

	"github.com/lockbench/lockbench/internal/redis/node"
)

// Kill stops node by SIGKILL and returns once its container has ended. Its
// connections are closed and later dials are refused. A paused node can be killed.
func (c *Cluster) Kill(ctx context.Context, name string) error {
	return c.change(ctx, "kill", name, func(ctx context.Context, s *server) error {
		r := s.current()
		if r == nil {
			return node.NotRunning(name)
		}
		c.repl.LastLook(ctx, name)
		return c.kill(ctx, s, r)
	})
}

// kill ends a run of a server and waits for its end.
func (c *Cluster) kill(ctx context.Context, s *server, r *run) error {
	defer s.hangUp()
	select {
	case <-r.done: // it has ended by itself
	default:
		r.wanted.Store(true)
	}
	return call(ctx, "kill the container", func(ctx context.Context) error {
		if _, err := c.engine.cli.ContainerKill(ctx, s.id(), client.ContainerKillOptions{Signal: "KILL"}); err != nil {
			return err
		}
		select {
		case <-r.done:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	})
}

// Restart starts a killed node again at the same address, empty, and returns once it
// answers. A replica follows its master again, unless it had been promoted; Sync waits
// until it has caught up.
func (c *Cluster) Restart(ctx context.Context, name string) error {
	return c.change(ctx, "restart", name, func(ctx context.Context, s *server) error {
		if s.current() != nil {
			return errors.New("it is still running; kill it first")
		}
		old := s.aof
		s.aof = node.AOF{}
		return c.restart(ctx, s, func(ctx context.Context) error { return s.aof.PersistAs(ctx, s.addr(), old) })
	})
}

// restart starts the container of a dead server again, and calls first before anybody
// else can reach it.
func (c *Cluster) restart(ctx context.Context, s *server, first func(ctx context.Context) error) error {
	if s.cable() != nil {
		return errors.New("it is off the network; reconnect it first")
	}
	ctx, cancel := context.WithTimeoutCause(ctx, startLimit, fmt.Errorf("gave up after %v", startLimit))
	defer cancel()
	err := call(ctx, "start the container", func(ctx context.Context) error {
		_, err := c.engine.cli.ContainerStart(ctx, s.id(), client.ContainerStartOptions{})
		return err
	})
	if err != nil {
		return err
	}
	if err := c.started(ctx, s, first); err != nil {
		return err
	}
	return c.repl.Follow(ctx, s.node.Name)
}

// Pause stops node by the freezer of its control group and returns once it stands
// still. Its connections stay open and the kernel goes on accepting new ones.
func (c *Cluster) Pause(ctx context.Context, name string) error {
	return c.change(ctx, "pause", name, func(ctx context.Context, s *server) error {
		if s.current() == nil {
			return node.NotRunning(name)
		}
		if s.isPaused() {
			return nil
		}
		c.repl.LastLook(ctx, name)
		err := call(ctx, "pause the container", func(ctx context.Context) error {
			_, err := c.engine.cli.ContainerPause(ctx, s.id(), client.ContainerPauseOptions{})
			return err
		})
		if err == nil {
			s.setPaused(true)
		}
		return err
	})
}

// Resume lets a paused node go on.
func (c *Cluster) Resume(ctx context.Context, name string) error {
	return c.change(ctx, "resume", name, func(ctx context.Context, s *server) error {
		if s.current() == nil {
			return node.NotRunning(name)
		}
		if !s.isPaused() {
			return nil
		}
		err := call(ctx, "resume the container", func(ctx context.Context) error {
			_, err := c.engine.cli.ContainerUnpause(ctx, s.id(), client.ContainerUnpauseOptions{})
			return err
		})
		if err == nil {
			s.setPaused(false)
		}
		return err
	})
}
