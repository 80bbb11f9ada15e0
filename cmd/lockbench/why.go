package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/lockbench/lockbench/cmd/lockbench/internal/gate"
	"github.com/lockbench/lockbench/internal/libraries"
	"github.com/lockbench/lockbench/locks"
)

func newWhy() *cobra.Command {
	var f gateFlags
	cmd := &cobra.Command{
		Use:   "why LOCK PITFALL",
		Short: "Explain one cell of the matrix: what breaks a lock, why, and what survives it",
		Long: `Why plays a lock under a pitfall as lockbench matrix does, and tells what becomes of it: the cause, the command that
shows it, and a lock or a guard that survives the same steps.

It exits with 0 whatever it shows, with 2 if it cannot be said, and with 3 if the pitfall has nothing to say of the lock.`,
		Example: `  lockbench why setnx-px-get-del P08
  lockbench why redlock redlock-clock-jump --backend process`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 2 {
				return usage(fmt.Errorf("want a lock and a pitfall, found %d arguments: lockbench why setnx-px-get-del P08", len(args)))
			}
			return nil
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			switch len(args) {
			case 0:
				return lockNames(), cobra.ShellCompDirectiveNoFileComp
			case 1:
				return scenarioNames(), cobra.ShellCompDirectiveNoFileComp
			}
			return nil, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := oneOf("backend", f.backend, ownBackendNames()); err != nil {
				return usage(err)
			}
			lock, scenario, err := lockAndPitfall(args[0], args[1])
			if err != nil {
				return usage(err)
			}
			f.only, f.runs, f.jobs = []string{scenario}, 1, 1
			return f.why(cmd.Context(), lock, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.backend, "backend", defaultBackend(), "where the servers live: "+describe(ownBackends()))
	f.servers.flags(cmd)
	flags.Uint64Var(&f.seed, "seed", 1, "seed of the run")
	// It fails only for a flag that does not exist.
	_ = cmd.RegisterFlagCompletionFunc("backend", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return ownBackendNames(), cobra.ShellCompDirectiveNoFileComp
	})
	return cmd
}

// lockAndPitfall finds a lock and the name of a scenario, in either order.
func lockAndPitfall(a, b string) (locks.Spec, string, error) {
	lock, err := libraries.Catalogue().Find(a)
	if err != nil {
		if other, found := libraries.Catalogue().Find(b); found == nil {
			lock, err, b = other, nil, a
		}
	}
	if err != nil {
		return lock, "", err
	}
	s, err := scenarioNamed(b)
	return lock, s.Name, err
}

func (f *gateFlags) why(ctx context.Context, lock locks.Spec, stdout, stderr io.Writer) error {
	backend, err := backendNamed(f.backend, ownBackends())
	if err == nil {
		backend, err = f.servers.on(ctx, backend)
	}
	if err != nil {
		return usage(err)
	}
	plan, err := gate.NewMatrix(gate.Options{
		Backend: backend, Only: f.only, Seed: f.seed, Runs: 1, Version: buildVersion(), Log: stderr, Command: f.replay,
	}, []locks.Spec{lock})
	if err != nil {
		return usage(err)
	}
	expectServers(ctx, backend)
	res, err := play(ctx, plan, f.jobs, stderr)
	if err != nil {
		return failure(err)
	}
	if !res.Whole() {
		return failure(fmt.Errorf("interrupted; nothing can be said of %s under %s", lock.Name, f.only[0]))
	}
	w, err := plan.Why(res, lock)
	if err != nil {
		return failure(err)
	}
	if err := w.Text(stdout, styleOf(stdout)); err != nil {
		return failure(err)
	}
	switch w.Cell.State {
	case gate.NotKnown:
		return &exitError{code: exitUnknown, told: true}
	case gate.DoesNotApply:
		return &exitError{code: exitUnfit, told: true}
	}
	return nil
}
