package docker

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/lockbench/lockbench/internal/osproc"
	"github.com/lockbench/lockbench/internal/redis/node"
)

// Usage looks at the process of node. The engine is asked for its id alone, not for the
// statistics of the container, as it would look at the container's network, too: Docker
// 20.10 has stood still over that while the container ended.
func (c *Cluster) Usage(ctx context.Context, name string) (osproc.Usage, error) {
	pid, stopped, err := c.Stopped(ctx, name)
	if err != nil {
		return osproc.Usage{}, err
	}
	if id := c.Machines[name].id(); !isHere(pid, id) {
		return osproc.Usage{}, fmt.Errorf("process %d of container %s cannot be seen from here: want lockbench among the "+
			"processes of the engine's machine, as by docker run --pid host", pid, id)
	}
	usage, err := osproc.Measure(ctx, pid)
	usage.Stopped = stopped
	return usage, err
}

// isHere reports whether the process that the engine calls pid is one that is seen from here.
func isHere(pid int, container string) bool {
	groups, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid)) // they are named after the container
	return err == nil && container != "" && strings.Contains(string(groups), container)
}

// Stopped looks whether the engine says that the container of node is paused. A busy engine may take it for paused for an instant after it
// was resumed. The process id is the engine's host's.
func (c *Cluster) Stopped(ctx context.Context, name string) (pid int, stopped bool, err error) {
	s, err := c.Machine(name)
	if err != nil {
		return 0, false, err
	}
	if s.current() == nil {
		return 0, false, node.NotRunning(name)
	}
	ctx, cancel := c.Links.Bound(ctx)
	defer cancel()
	seen, err := c.look(ctx, s)
	if err == nil && (seen.State == nil || !seen.State.Running) {
		err = node.NotRunning(name)
	}
	if err != nil {
		return 0, false, err
	}
	return seen.State.Pid, seen.State.Paused, nil
}

// process returns the process of s, or nil if it cannot be seen from here.
func (c *Cluster) process(ctx context.Context, s *server) (*osproc.Process, error) {
	seen, err := c.look(ctx, s)
	if err != nil || seen.State == nil || !isHere(seen.State.Pid, s.id()) {
		return nil, err
	}
	return osproc.Find(ctx, seen.State.Pid)
}
