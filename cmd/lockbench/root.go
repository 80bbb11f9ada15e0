package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockbench/lockbench/internal/catalogue"
)

const long = `lockbench answers one question with evidence: does this Redis lock keep its promise when things go wrong?

It drives a lock with several clients, injects faults at exact points, records every call, and judges the record.

Exit codes: 0 as expected, 1 not as expected, 2 unknown, 3 not applicable, 254 wrong usage or no history, 255 harness failure.`

func newRoot(stdout, stderr io.Writer) *cobra.Command {
	root := &cobra.Command{
		Use:           "lockbench",
		Short:         "Test Redis distributed locks under faults",
		Long:          long,
		Example:       "  lockbench run --scenario failover-async-repl\n  lockbench run --scenario failover-async-repl --lock redlock\n  lockbench list",
		Version:       buildVersion(),
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetOut(stdout)
	root.SetErr(stderr)
	root.SetVersionTemplate(versionLine())
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usage(fmt.Errorf("%w (%s --help)", badFlag(cmd, err), cmd.CommandPath()))
	})
	root.AddCommand(newRun(), newShow(), newDemo(), newGate(), newMerge(), newMatrix(), newWhy(), newExplore(), newPlay(), newMargins(), newCheck(), newVerify(), newReport(), newConvert(), newList(), newServe(), newPrune(), newInit(), newWorker(), newClean(), newImage(), newVersion(), newSchema(), newMan())
	configure, heed := configFlag(root), volumeFlags(root)
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		c, err := configure(cmd)
		if err != nil {
			return err
		}
		return heed(cmd, c)
	}
	root.SetHelpCommand(newHelp(root))
	root.InitDefaultCompletionCmd()
	onlySubcommands(root)
	for _, cmd := range root.Commands() {
		if cmd.HasSubCommands() {
			onlySubcommands(cmd)
		}
	}
	return root
}

// badFlag says of a flag's value that does not parse what was wanted. It returns other
// errors as they are.
func badFlag(cmd *cobra.Command, err error) error {
	var bad interface {
		error
		GetValue() string
	}
	if !errors.As(err, &bad) {
		return err
	}
	_, name, _ := strings.Cut(err.Error(), `"--`)
	name, _, _ = strings.Cut(name, `"`)
	flag := cmd.Flags().Lookup(name)
	if flag == nil {
		return err
	}
	want, ok := map[string]string{
		"uint64":   "a whole number, at least 0",
		"int":      "a whole number",
		"float64":  "a number",
		"duration": "a duration such as 3s or 500ms",
	}[flag.Value.Type()]
	if !ok {
		return err
	}
	return fmt.Errorf("--%s is %q, want %s", name, bad.GetValue(), want)
}

func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return usage(fmt.Errorf("%s takes no arguments, found %q (%[1]s --help)", cmd.CommandPath(), args[0]))
}

// onlySubcommands makes a command show its help, and refuse the name of a subcommand that
// it does not have. Cobra alone shows the help for that too, as if nothing were wrong.
func onlySubcommands(cmd *cobra.Command) {
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		return noCommand(cmd, args[0])
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
}

func newHelp(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "help [command]",
		Short: "Help about any command",
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return subcommands(root), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			cmd, rest, err := root.Find(args)
			switch {
			case err != nil:
				return usage(err)
			case len(rest) > 0:
				return noCommand(cmd, rest[0])
			}
			cmd.InitDefaultHelpFlag() // as if it had been asked itself
			cmd.InitDefaultVersionFlag()
			return cmd.Help()
		},
	}
}

func subcommands(cmd *cobra.Command) []string {
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() || c.Name() == "help" {
			names = append(names, c.Name())
		}
	}
	return names
}

func noCommand(cmd *cobra.Command, name string) error {
	return usage(fmt.Errorf("%w (%s --help)", oneOf("command", name, subcommands(cmd)), cmd.CommandPath()))
}

// oneOf checks a name against the known ones.
func oneOf(kind, name string, known []string) error {
	if slices.Contains(known, name) {
		return nil
	}
	return catalogue.Unknown(kind, name, known)
}
