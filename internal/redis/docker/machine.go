package docker

import (
	"context"
	"errors"
	"strings"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/client"

	"github.com/lockbench/lockbench/internal/redis/cluster"
	"github.com/lockbench/lockbench/internal/redis/node"
)

var _ node.Machine = (*server)(nil)

// Turn is a lock that a context can give up on.
func (s *server) Turn() chan struct{} { return s.turn }

// Addr returns where the server listens, and false if its container does not run.
func (s *server) Addr() (addr string, running bool) { return s.addr(), s.current() != nil }

// Paused reports whether the container is.
func (s *server) Paused() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.paused
}

// Silent reports whether the server can answer nobody: because it is paused, or off the
// network, or nothing gets through to it or from it.
func (s *server) Silent() bool {
	_, in := s.dropped(cluster.Path{From: cluster.Anyone, To: s.node.Name})
	_, out := s.dropped(cluster.Path{From: s.node.Name, To: cluster.Anyone})
	return in || out || s.Paused() || s.cable() != nil
}

// Start starts the container of a dead server again at the same address, empty, and returns
// once the server answers.
func (s *server) Start(ctx context.Context) error {
	old := s.aof
	s.aof = node.AOF{}
	return s.again(ctx, func(ctx context.Context, addr string) error { return s.aof.PersistAs(ctx, addr, old) })
}

// Keep starts the container of a dead server again, with its append-only file.
func (s *server) Keep(ctx context.Context, first func(ctx context.Context, addr string) error) error {
	options := strings.Join(s.aof.Options(), " ")
	if err := (files{s}).write(ctx, keepFile, []byte(options)); err != nil {
		return err
	}
	return s.again(ctx, first)
}

// again starts the container of a dead server again, and calls first before anybody
// else can reach it.
func (s *server) again(ctx context.Context, first func(ctx context.Context, addr string) error) error {
	if s.cable() != nil {
		return errors.New("it is off the network; reconnect it first")
	}
	if err := s.over(ctx); err != nil {
		return err
	}
	err := call(ctx, "start the container", func(ctx context.Context) error {
		_, err := s.cluster.engine.cli.ContainerStart(ctx, s.id(), client.ContainerStartOptions{})
		return err
	})
	if err != nil {
		return err
	}
	return s.cluster.started(ctx, s, func(ctx context.Context) error { return first(ctx, s.addr()) })
}

// over waits until the engine has heard of the end of the latest run: it would not start again what it thinks is
// running.
func (s *server) over(ctx context.Context) error {
	r := s.latest()
	if r == nil {
		return nil
	}
	return call(ctx, "notice the end of the container", func(ctx context.Context) error {
		select {
		case <-r.done:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	})
}

// Kill ends the container by SIGKILL and waits for its end. Where the server's process can be seen
// it is killed itself: a busy engine may be longer than a lease in doing so.
func (s *server) Kill(ctx context.Context) error {
	r := s.current()
	if r == nil {
		return nil
	}
	defer s.hangUp()
	select {
	case <-r.done: // it has ended by itself
	default:
		r.wanted.Store(true)
	}
	if r.process != nil && isHere(r.process.PID, s.id()) && !s.Paused() && r.process.Kill(ctx) == nil {
		r.dead.Store(true)
		return nil
	}
	return call(ctx, "kill the container", func(ctx context.Context) error {
		_, err := s.cluster.engine.cli.ContainerKill(ctx, s.id(), client.ContainerKillOptions{Signal: "KILL"})
		if err != nil && !errdefs.IsConflict(err) { // which says that it does not run any more
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

// pauses is how often a container is paused before it is an error that it cannot be: on a busy machine runc may give up on freezing it.
const pauses = 5

// Suspend stops the container by the freezer of its control group and returns once it stands
// still.
func (s *server) Suspend(ctx context.Context) error {
	err := call(ctx, "pause the container", func(ctx context.Context) error {
		var err error
		for range pauses {
			if _, err = s.cluster.engine.cli.ContainerPause(ctx, s.id(), client.ContainerPauseOptions{}); !errdefs.IsInternal(err) && !errdefs.IsUnknown(err) {
				break
			}
		}
		return err
	})
	if err == nil {
		s.setPaused(true)
	}
	return err
}

// Resume lets a paused container go on.
func (s *server) Resume(ctx context.Context) error {
	err := call(ctx, "resume the container", func(ctx context.Context) error {
		_, err := s.cluster.engine.cli.ContainerUnpause(ctx, s.id(), client.ContainerUnpauseOptions{})
		return err
	})
	if err == nil {
		s.setPaused(false)
	}
	return err
}

// AOF is the append-only file of the server, and the files of its container.
func (s *server) AOF() (file *node.AOF, in node.Files, parts bool) { return &s.aof, files{s}, true }
