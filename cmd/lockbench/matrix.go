package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockbench/lockbench/cmd/lockbench/internal/gate"
	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/libraries"
	"github.com/lockbench/lockbench/locks"
)

const formatMarkdown = "markdown"

func matrixFormats() []string { return []string{formatText, formatMarkdown, formatJSON} }

type matrixFlags struct {
	gate         gateFlags
	locks        []string
	format, file string
}

func newMatrix() *cobra.Command {
	var f matrixFlags
	cmd := &cobra.Command{
		Use:   "matrix",
		Short: "Put every lock through every pitfall and draw what holds",
		Long: `Matrix puts every lock through the steps of every pitfall, not only those that the catalogue has something to say of, and
draws which locks hold, which break and by which command that can be seen, what does not apply, and what is unknown.

It judges nothing: it exits with 0 whatever it shows, and with 3 if nothing applies. lockbench gate is the judge.`,
		Example: `  lockbench matrix
  lockbench matrix --lock redlock,redsync --only redlock-*
  lockbench matrix --format markdown --output docs/matrix.md`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			specs, err := f.validate(cmd.Flags().Changed)
			if err != nil {
				return usage(err)
			}
			return f.run(cmd.Context(), specs, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.gate.backend, "backend", defaultBackend(), "where the servers live: "+describe(ownBackends()))
	f.gate.servers.flags(cmd)
	flags.StringSliceVar(&f.gate.only, "only", nil, "scenarios, comma-separated: numbers (P07, P17-P20), names, or patterns (redlock-*)")
	flags.StringSliceVar(&f.locks, "lock", nil, "locks, comma-separated (default: all)")
	flags.Uint64Var(&f.gate.seed, "seed", 1, "seed of the first run of each cell")
	flags.IntVar(&f.gate.runs, "runs", 1, "runs of each cell, with seeds counting up from --seed; one that breaks is enough")
	flags.IntVar(&f.gate.jobs, "jobs", 0, "runs at a time (default: as lockbench gate)")
	flags.StringVar(&f.format, "format", formatText, "text, markdown or json")
	flags.StringVarP(&f.file, "output", "o", "", "write into this file instead of standard output")
	for name, values := range map[string]func() []string{
		"backend": ownBackendNames, "only": scenarioNames, "lock": lockNames, "format": matrixFormats,
	} {
		// It fails only for a flag that does not exist.
		_ = cmd.RegisterFlagCompletionFunc(name, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return values(), cobra.ShellCompDirectiveNoFileComp
		})
	}
	return cmd
}

func (f *matrixFlags) validate(changed func(flag string) bool) ([]locks.Spec, error) {

	for _, check := range []error{oneOf("backend", f.gate.backend, ownBackendNames()), oneOf("format", f.format, matrixFormats())} {
		if check != nil {
			return nil, check
		}
	}
	switch {
	case f.gate.runs < 1:
		return nil, fmt.Errorf("--runs is %d, want at least 1", f.gate.runs)
	case changed("jobs") && f.gate.jobs < 1:
		return nil, fmt.Errorf("--jobs is %d, want at least 1", f.gate.jobs)
	}
	if f.file != "" {
		if err := gate.CanWrite(f.file); err != nil {
			return nil, err
		}
	}
	if len(f.locks) == 0 {
		return libraries.Catalogue(), nil
	}
	var specs []locks.Spec
	for _, name := range f.locks {
		spec, err := libraries.Catalogue().Find(name)
		if err != nil {
			return nil, err
		}
		specs = append(specs, spec)
	}
	return specs, nil
}

func (f *matrixFlags) run(ctx context.Context, specs []locks.Spec, stdout, stderr io.Writer) error {
	g := f.gate
	backend, err := backendNamed(g.backend, ownBackends())
	if err == nil {
		backend, err = g.servers.on(ctx, backend)
	}
	if err != nil {
		return usage(err)
	}
	plan, err := gate.NewMatrix(gate.Options{
		Backend: backend, Only: g.only, Seed: g.seed, Runs: g.runs, Version: buildVersion(), Log: stderr, Command: g.replay,
	}, specs)
	if err != nil {
		return usage(err)
	}
	if g.jobs == 0 {
		g.jobs = harness.Jobs(ctx, backend, false)
	}
	if mine, _ := plan.Runs(); mine == 0 {
		return nothing(plan)
	}
	expectServers(ctx, backend)
	res, err := play(ctx, plan, g.jobs, stderr)
	if err != nil {
		return failure(err)
	}
	if !res.Whole() {
		return failure(fmt.Errorf("interrupted after %d of %d runs; there is no matrix", len(res.Rows), res.Share))
	}
	m, err := plan.MatrixOf(res, specs)
	if err != nil {
		return failure(err)
	}
	var b bytes.Buffer
	switch f.format {
	case formatJSON:
		var data []byte
		data, err = m.Marshal()
		b.Write(data)
	case formatMarkdown:
		err = m.Markdown(&b)
	default:
		err = m.Text(&b, styleOf(stdout))
	}
	if err == nil && f.file != "" {
		err = gate.WriteFile(f.file, b.Bytes())
	} else if err == nil {
		_, err = stdout.Write(b.Bytes())
	}
	if err != nil {
		return failure(err)
	}
	return nil
}

// play plays a plan and tells on stderr how far it is.
func play(ctx context.Context, plan *gate.Plan, jobs int, stderr io.Writer) (gate.Results, error) {
	defer debug.SetGCPercent(debug.SetGCPercent(thrift))
	mine, _ := plan.Runs()
	t := newProgress(stderr)
	defer t.End()
	return plan.Play(ctx, jobs, gate.Watch{Now: t.Now, Done: func(row gate.Row, runs int, share float64) {
		t.Tell(share, fmt.Sprintf("%d of %d runs", runs, mine), row.ID+" "+row.Scenario)
	}})
}

// nothing returns why a plan has no runs.
func nothing(plan *gate.Plan) error {
	var why []string
	for _, g := range plan.Gaps() {
		why = append(why, g.Scenario+": "+g.Reason)
	}
	if len(why) == 0 && len(plan.Lost()) > 0 {
		return usage(errors.New("nothing to run: no run that failed is part of this gate; want another --only, or none"))
	}
	if len(why) == 0 {
		return usage(errors.New("nothing to run: this shard has no part of the plan; want fewer shards"))
	}
	return &exitError{code: exitUnfit, err: fmt.Errorf("nothing to run: %s", strings.Join(why, "; "))}
}
