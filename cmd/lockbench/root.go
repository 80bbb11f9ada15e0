package main

import (
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/lockbench/lockbench/locks"
)

const long = `lockbench answers one question with evidence: does this Redis lock keep its promise when things go wrong?

It drives a lock with several clients, injects faults at exact points, records every call, and judges the record.

Exit codes: 0 as expected, 1 not as expected, 2 unknown, 254 wrong usage, 255 harness failure.`

func newRoot(stdout, stderr io.Writer) *cobra.Command {
	root := &cobra.Command{
		Use:           "lockbench",
		Short:         "Test Redis distributed locks under faults",
		Long:          long,
		Example:       "  lockbench run --scenario failover-async-repl\n  lockbench run --scenario failover-async-repl --lock redlock\n  lockbench list",
		Args:          cobra.NoArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetOut(stdout)
	root.SetErr(stderr)
	root.AddCommand(newRun(), newList(), newVersion())
	return root
}

// oneOf checks a name against the known ones.
func oneOf(kind, name string, known []string) error {
	if slices.Contains(known, name) {
		return nil
	}
	return &locks.UnknownError{Kind: kind, Name: name, Nearest: locks.Nearest(name, known), Known: known}
}
