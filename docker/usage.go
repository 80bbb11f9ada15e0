package docker

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"github.com/lockbench/lockbench/cluster/node"
	"github.com/lockbench/lockbench/osproc"
)

// Usage looks at the container of node through the engine. CPU, memory and threads are
// those of its control group, as docker stats shows them; the process id is the engine's
// host's. Stopped says that the container is paused.
func (c *Cluster) Usage(ctx context.Context, name string) (osproc.Usage, error) {
	var usage osproc.Usage
	pid, stopped, err := c.Stopped(ctx, name)
	if err != nil {
		return usage, err
	}
	ctx, cancel := c.links.Bound(ctx)
	defer cancel()
	err = call(ctx, "measure a container", func(ctx context.Context) error {
		stats, err := c.engine.cli.ContainerStats(ctx, c.servers[name].id(), client.ContainerStatsOptions{})
		if err != nil {
			return err
		}
		usage, err = readStats(stats.Body)
		usage.PID, usage.Stopped = pid, stopped
		return errors.Join(err, stats.Body.Close())
	})
	return usage, err
}

// Stopped looks whether the container of node is paused. The process id is the engine's
// host's.
func (c *Cluster) Stopped(ctx context.Context, name string) (pid int, stopped bool, err error) {
	s, err := c.server(name)
	if err != nil {
		return 0, false, err
	}
	if s.current() == nil {
		return 0, false, node.NotRunning(name)
	}
	ctx, cancel := c.links.Bound(ctx)
	defer cancel()
	err = call(ctx, "look at a container", func(ctx context.Context) error {
		seen, err := c.engine.cli.ContainerInspect(ctx, s.id(), client.ContainerInspectOptions{})
		if err != nil {
			return err
		}
		state := seen.Container.State
		if state == nil || !state.Running {
			return node.NotRunning(name)
		}
		pid, stopped = state.Pid, state.Paused
		return nil
	})
	return pid, stopped, err
}

// readStats reads what the engine says of a control group on Linux. Files that the kernel
// could drop from memory at once do not count; control groups of version 1 and 2 name
// them differently.
func readStats(r io.Reader) (osproc.Usage, error) {
	var s container.StatsResponse
	if err := json.NewDecoder(r).Decode(&s); err != nil {
		return osproc.Usage{}, err
	}
	memory := s.MemoryStats.Usage
	for _, name := range []string{"total_inactive_file", "inactive_file"} {
		if files, ok := s.MemoryStats.Stats[name]; ok {
			memory -= min(files, memory)
			break
		}
	}
	return osproc.Usage{
		CPU:      time.Duration(s.CPUStats.CPUUsage.TotalUsage),
		Resident: int64(memory),
		Threads:  int(s.PidsStats.Current),
	}, nil
}
