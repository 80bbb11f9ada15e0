package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/cmd/lockbench/internal/demo"
)

// demoFlags are the flags of demo as the user gave them.
type demoFlags struct {
	lang, backend string
	seed          uint64
	pause         bool
}

func newDemo() *cobra.Command {
	var f demoFlags
	cmd := &cobra.Command{
		Use:   "demo [name]",
		Short: "Teach: a broken lock step by step, what it breaks, and its fix under the same steps",
		Long: `Demo plays a scenario twice, with its broken lock and with a lock that survives the same steps, and tells it step by step:
what each client sent, what Redis held then, and what each client believed. All of it is what was recorded while the real
lock ran. Without a name it lists the demos in the order in which they teach (docs/course).

It exits with 0 if both came out as the catalogue expects, with 1 if not, with 2 if that cannot be said, and with 3 if the backend cannot play it.`,
		Example: `  lockbench demo
  lockbench demo setnx-expire
  lockbench demo get-del --pause
  lockbench demo get-del --lang zh
  lockbench demo failover --backend process`,
		Args: cobra.MaximumNArgs(1),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return demoNames(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.run(cmd.Context(), args, cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.lang, "lang", languages()[0], "language: "+strings.Join(languages(), " or "))
	flags.StringVar(&f.backend, "backend", defaultBackend(), "where the servers live: "+describe(ownBackends()))
	flags.Uint64Var(&f.seed, "seed", 1, "seed of everything that is random")
	flags.BoolVar(&f.pause, "pause", false, "wait for a key between steps; needs a terminal")
	for name, values := range map[string]func() []string{"lang": languages, "backend": ownBackendNames} {
		// It fails only for a flag that does not exist.
		_ = cmd.RegisterFlagCompletionFunc(name, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return values(), cobra.ShellCompDirectiveNoFileComp
		})
	}
	return cmd
}

func demoNames() []string {
	var names []string
	for _, d := range demo.All() {
		names = append(names, d.Name)
	}
	return names
}

func languages() []string {
	var names []string
	for _, l := range demo.Languages() {
		names = append(names, l.Name)
	}
	return names
}

func (f *demoFlags) run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	backend, err := backendNamed(f.backend, ownBackends())
	if err != nil {
		return usage(err)
	}
	lang, err := demo.FindLanguage(f.lang)
	if err != nil {
		return usage(err)
	}
	style := styleOf(stdout)
	if len(args) == 0 {
		if f.pause {
			return usage(errors.New("--pause goes with the name of a demo (lockbench demo)"))
		}
		if err := demo.List(stdout, lang, style); err != nil {
			return failure(err)
		}
		return nil
	}
	d, err := demo.Find(args[0])
	if err != nil {
		return usage(fmt.Errorf("%w (lockbench demo)", err))
	}
	var pause func(string) error
	if f.pause {
		keys, err := newKeyboard(ctx, stdin, stdout)
		if err != nil {
			return usage(err)
		}
		pause = keys.wait
	}
	lesson, err := demo.Play(ctx, d, demo.Options{Backend: backend, Seed: f.seed, Log: stderr})
	switch {
	case ctx.Err() != nil:
		return failure(errInterrupted)
	case err != nil:
		return failure(err)
	}
	switch err := demo.Tell(stdout, lesson, lang, style, pause); {
	case errors.Is(err, errLeft): // the reader has seen enough; the outcome stands
	case err != nil:
		return failure(err)
	}
	switch lesson.Outcome() {
	case checker.AsExpected:
		return nil
	case checker.Unexpected:
		return &exitError{code: exitUnexpected}
	default:
		return &exitError{code: exitUnknown}
	}
}
