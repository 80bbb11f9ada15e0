package nemesis

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/redis/cluster"
)

// OOMF is a server that refuses writes for want of memory.
const OOMF histories.F = "oom"

// oomProbe is a key to write when memory is full.
const oomProbe = "lockbench:oom"

// fillMemory makes the memory of a server too small for what it holds, by CONFIG SET maxmemory
// 1 under noeviction: what would need memory is refused with OOM, also inside of
// scripts, while reads, DEL and PEXPIRE go on. Healing puts the settings back.
func fillMemory(c cluster.Commander, node string) Fault {
	var old [][]string // names and values, in the order in which they are put back
	return oom(c, node, "maxmemory 1, noeviction", func(ctx context.Context) error {
		for _, name := range []string{"maxmemory-policy", "maxmemory"} {
			value, err := setting(ctx, c, node, name)
			if err != nil {
				return err
			}
			old = slices.Insert(old, 0, []string{name, value}) // else a policy that evicts would
		}
		return config(ctx, c, node, [][]string{{"maxmemory-policy", "noeviction"}, {"maxmemory", "1"}})
	}, func(ctx context.Context) error { return config(ctx, c, node, old) })
}

// simulateOOM does the same to a server that does not know maxmemory.
func simulateOOM(c memoryCommander, node string) Fault {
	f := oom(c, node, "simulated",
		func(ctx context.Context) error { return c.SimulateFullMemory(ctx, node, true) },
		func(ctx context.Context) error { return c.SimulateFullMemory(ctx, node, false) })
	f.Simulated = true
	return f
}

// memoryCommander is a deployment whose servers only seem to run out of memory.
type memoryCommander interface {
	cluster.Commander
	cluster.MemorySimulator
}

func oom(c cluster.Commander, node, how string, fill, free func(context.Context) error) Fault {
	return Fault{
		F: OOMF, Target: node, Plan: fmt.Sprintf("memory is full: writes are refused (%s)", how),
		Start: func(ctx context.Context) (_ string, err error) {
			err = fill(ctx)
			if err == nil {
				err = refused(ctx, c, node)
			}
			if err != nil {
				err = errors.Join(err, free(ctx))
			}
			return "", err
		},
		Stop: func(ctx context.Context) (string, error) {
			if err := refused(ctx, c, node); err != nil { // it lasted till now
				return "", errors.Join(err, free(ctx))
			}
			if err := free(ctx); err != nil {
				return "", err
			}
			if _, err := c.Do(ctx, node, "SET", oomProbe, "1"); err != nil {
				return "", fmt.Errorf("a write when there is memory again: %w", err)
			}
			_, err := c.Do(ctx, node, "DEL", oomProbe)
			return "a write was refused with OOM; there is memory again, and one is accepted", err
		},
	}
}

// refused tries a write, which must be refused for want of memory.
func refused(ctx context.Context, c cluster.Commander, node string) error {
	switch _, err := c.Do(ctx, node, "SET", oomProbe, "1", "PX", "1000"); {
	case err == nil:
		return errors.New("a write into full memory: want OOM, got OK")
	case !isOOM(err):
		return err
	}
	return nil
}

// config sets settings, of name and value each, one after another.
func config(ctx context.Context, c cluster.Commander, node string, settings [][]string) error {
	var errs []error
	for _, s := range settings {
		_, err := c.Do(ctx, node, "CONFIG", "SET", s[0], s[1])
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func oomKind() Kind {
	return Kind{
		Name: "oom", Title: "a server of the lock refuses writes for want of memory (OOM)", F: OOMF, Unsupported: needsCommands,
		Means: func(c cluster.Cluster) string {
			if _, ok := c.(memoryCommander); ok {
				return "simulated: what would need memory is refused"
			}
			return "maxmemory 1, noeviction"
		},
		Hits:   HitsServer,
		Begins: "{server} runs out of memory and may evict nothing",
		Ends:   "{server} has memory again",
		Make: func(s Scene, t Target) (Fault, error) {
			if _, ok := s.Cluster.(memoryCommander); ok {
				return onServer(wantMemory, simulateOOM)(s, t)
			}
			return onServer(wantMemory, fillMemory)(s, t)
		},
		Pick: pickServer,
	}
}
