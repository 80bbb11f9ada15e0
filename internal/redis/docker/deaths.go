package docker

import (
	"context"
	"fmt"
	"time"

	"github.com/containerd/errdefs"

	"github.com/lockbench/lockbench/internal/redis/cluster"
)

var _ cluster.DeathWatcher = (*Cluster)(nil)

// obituary bounds how long is asked for how a container ended.
const obituary = 5 * time.Second

// Death looks at every server's container, and returns the first that ended though nobody of
// the run killed it, or nil.
func (c *Cluster) Death(ctx context.Context) error {
	for _, name := range c.names() {
		s := c.Machines[name]
		r := s.latest()
		if r == nil || r.wanted.Load() || ping(ctx, s.addr()) == nil {
			continue
		}
		state, err := c.ended(ctx, s)
		if err != nil {
			return fmt.Errorf("look whether %s is alive: %w", name, err)
		}
		if state != "" {
			c.Deaths.Report(&cluster.DeathError{Node: name, How: state, Log: c.lastOutput(ctx, s)})
		}
	}
	return c.Deaths.First()
}

// mourn reports the end of a run that nobody wanted to end. ctx ends with the cluster.
func (c *Cluster) mourn(ctx context.Context, s *server, r *run) {
	if ctx.Err() != nil || r.wanted.Load() || s.latest() != r {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, obituary)
	defer cancel()
	state, err := c.ended(ctx, s)
	switch {
	case err != nil:
		state = fmt.Sprintf("how is not known: %v", err)
	case state == "":
		state = "it runs again, and nobody of the run started it"
	}
	c.Deaths.Report(&cluster.DeathError{Node: s.node.Name, How: state, Log: c.lastOutput(ctx, s)})
}

// ended says how the container of s ended, or "" if it runs.
func (c *Cluster) ended(ctx context.Context, s *server) (how string, err error) {
	seen, err := c.look(ctx, s)
	state := seen.State
	switch {
	case errdefs.IsNotFound(err):
		return "its container has been removed", nil
	case err != nil, state != nil && state.Running:
		return "", err
	case state == nil:
		return "its container does not run", nil
	}
	how = fmt.Sprintf("its container has ended with exit code %d", state.ExitCode)
	if state.OOMKilled {
		how += ", for want of memory"
	}
	return how, nil
}

// latest is the run that began last, if its server has answered, or nil.
func (s *server) latest() *run {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.run == nil || !s.run.open {
		return nil
	}
	return s.run
}
