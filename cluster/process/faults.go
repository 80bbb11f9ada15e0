package process

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	psutil "github.com/shirou/gopsutil/v3/process"
)

// lookLimit bounds the look at a server that is about to be killed or stopped.
const lookLimit = 250 * time.Millisecond

// Kill stops node by SIGKILL and returns once it is gone. The kernel closes its
// connections and later dials are refused. A paused node can be killed.
func (c *Cluster) Kill(ctx context.Context, node string) error {
	return c.change(ctx, "kill", node, func(ctx context.Context, s *server) error {
		r := s.current()
		if r == nil {
			return notRunning(node)
		}
		c.lastLook(ctx, s)
		return r.kill()
	})
}

// Restart starts a killed node again, empty, and returns once it answers. A replica
// follows its master again, unless it had been promoted; Sync waits until it has caught up.
func (c *Cluster) Restart(ctx context.Context, node string) error {
	return c.change(ctx, "restart", node, func(ctx context.Context, s *server) error {
		if s.current() != nil {
			return errors.New("it is still running; kill it first")
		}
		ctx, cancel := context.WithTimeoutCause(ctx, startLimit, fmt.Errorf("gave up after %v", startLimit))
		defer cancel()
		if err := s.start(ctx, c.prog, c.launcher, c.log); err != nil {
			return err
		}
		if f, ok := c.feeds[node]; ok && !f.isPromoted() {
			return c.follow(ctx, f, s)
		}
		return nil
	})
}

// Pause stops node by SIGSTOP and returns once it stands still. Its connections stay
// open and the kernel goes on accepting new ones.
func (c *Cluster) Pause(ctx context.Context, node string) error {
	return c.change(ctx, "pause", node, func(ctx context.Context, s *server) error {
		p, err := s.handle(ctx)
		if err != nil {
			return err
		}
		c.lastLook(ctx, s)
		if err := p.SuspendWithContext(ctx); err != nil {
			return err
		}
		s.setPaused(true)
		return stopped(ctx, p)
	})
}

// Resume lets a paused node go on by SIGCONT.
func (c *Cluster) Resume(ctx context.Context, node string) error {
	return c.change(ctx, "resume", node, func(ctx context.Context, s *server) error {
		p, err := s.handle(ctx)
		if err != nil {
			return err
		}
		if err := p.ResumeWithContext(ctx); err != nil {
			return err
		}
		s.setPaused(false)
		return nil
	})
}

// handle returns the running process for signals.
func (s *server) handle(ctx context.Context) (*psutil.Process, error) {
	r := s.current()
	if r == nil {
		return nil, notRunning(s.node.Name)
	}
	return psutil.NewProcessWithContext(ctx, int32(r.process.Pid))
}

// stopped returns once p stands still: a signal is sent before it takes effect.
func stopped(ctx context.Context, p *psutil.Process) error {
	pause := time.NewTicker(poll)
	defer pause.Stop()
	for {
		status, err := p.StatusWithContext(ctx)
		if err != nil {
			return err
		}
		if slices.Contains(status, psutil.Stop) {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-pause.C:
		}
	}
}

// lastLook remembers the replication offsets that node alone can tell, before it
// falls silent. A node that does not answer in time is not waited for.
func (c *Cluster) lastLook(ctx context.Context, s *server) {
	ctx, cancel := context.WithTimeout(ctx, lookLimit)
	defer cancel()
	for _, f := range c.feeds {
		if f.replica == s.node.Name || f.master == s.node.Name {
			_ = c.look(ctx, f) // what is not seen now keeps its last value
		}
	}
}
