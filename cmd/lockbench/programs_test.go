package main

import (
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/player"
	"github.com/lockbench/lockbench/locks"
)

// Programs that are lockbench with something in it that the tests need.
const (
	computingProgram = "lockbench-computing" // its locks compute without end
	hastyProgram     = "lockbench-hasty"     // it soon takes a call for hung
)

func computingMain() {
	var once sync.Once
	os.Exit(program(withRun(func(cfg *harness.Config) {
		inner := cfg.Lock.New
		cfg.Lock.New = func(env locks.Env) locks.Locker { return computing{inner(env), &once} }
	})))
}

func hastyMain() {
	os.Exit(program(withRun(func(cfg *harness.Config) {
		cfg.Seams.Grace = 3 * time.Second // enough for a shell to say hello
		cfg.Seams.Stage = func(s *player.Stage) {
			for _, c := range append(s.Clients, s.Prober) {
				c.Timeout = 100 * time.Millisecond
			}
		}
	})))
}

// withRun is lockbench with a run of which something is changed before it begins.
func withRun(change func(*harness.Config)) func(stdout, stderr io.Writer) *cobra.Command {
	return func(stdout, stderr io.Writer) *cobra.Command {
		root := newRoot(stdout, stderr)
		for _, cmd := range root.Commands() {
			if cmd.Name() == "run" {
				root.RemoveCommand(cmd)
			}
		}
		var f runFlags
		cmd := &cobra.Command{Use: "run", RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := f.config(cmd.Context(), cmd.Flags().Changed)
			if err != nil {
				return misuse(err)
			}
			change(&cfg)
			return f.run(cmd.Context(), cfg, cmd.OutOrStdout(), cmd.ErrOrStderr())
		}}
		f.flags(cmd)
		root.AddCommand(cmd)
		return root
	}
}

// computing is a lock that computes without end once it was refused, and never looks at its
// context. Right before, the program is asked to end.
type computing struct {
	locks.Locker
	once *sync.Once
}

func (c computing) Acquire(ctx context.Context, key string, ttl time.Duration) (locks.Lease, error) {
	lease, err := c.Locker.Acquire(ctx, key, ttl)
	if !errors.Is(err, locks.ErrTaken) {
		return lease, err
	}
	c.once.Do(func() {
		self, err := os.FindProcess(os.Getpid())
		if err == nil {
			err = self.Signal(syscall.SIGTERM)
		}
		if err != nil {
			panic(err)
		}
	})
	var computes atomic.Bool
	for computes.Store(true); computes.Load(); {
	}
	return lease, err
}
