package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockbench/lockbench/scenarios"
)

// scheduleSuffix is how the names of files with schedules end.
const scheduleSuffix = ".schedule"

// isFile reports whether a scenario is meant that stands in a file of the user's.
func isFile(name string) bool { return strings.HasSuffix(name, scheduleSuffix) }

// longestSchedule bounds what is read of a file.
const longestSchedule = 1 << 20

// scheduleIn reads the schedule in a file. A lock that it does not name is the one that the user names.
func scheduleIn(name, lock string) (scenarios.Scenario, error) {
	file, err := os.Open(name)
	if err != nil {
		return scenarios.Scenario{}, fmt.Errorf("schedule: %w", err)
	}
	defer func() { _ = file.Close() }() // it was only read
	src, err := io.ReadAll(io.LimitReader(file, longestSchedule+1))
	if err != nil {
		return scenarios.Scenario{}, fmt.Errorf("schedule: %w", err)
	}
	s, err := scenarios.Parse(string(src))
	if err != nil {
		return s, inFile(name, err)
	}
	if s.Name == "" {
		s.Name = strings.TrimSuffix(filepath.Base(name), scheduleSuffix)
	}
	if len(s.Cases) == 0 {
		if lock == "" {
			return s, fmt.Errorf("%s names no lock: want --lock, or a line in its head such as %q", name, "lock setnx-px-lua")
		}
		s.Cases = []scenarios.Case{{Lock: lock}}
	}
	return s, nil
}

// inFile names the file in each of the errors that are joined in err.
func inFile(name string, err error) error {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return fmt.Errorf("%s: %w", name, err)
	}
	var all []error
	for _, e := range joined.Unwrap() {
		all = append(all, fmt.Errorf("%s: %w", name, e))
	}
	return errors.Join(all...)
}

// newShow returns the command that prints the schedule of a scenario.
func newShow() *cobra.Command {
	return &cobra.Command{
		Use:   "show SCENARIO",
		Short: "Print the schedule of a scenario: who does what in which order",
		Long: `Show prints the schedule of a scenario, in the form that run reads again from a file (docs/schedule.md). Write it into a
file whose name ends with .schedule, change it, and play it: lockbench run FILE.schedule`,
		Example: `  lockbench show P08
  lockbench show get-del-race > mine.schedule && lockbench run mine.schedule`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage(fmt.Errorf("%s takes one scenario, found %d (%[1]s --help)", cmd.CommandPath(), len(args)))
			}
			return nil
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return scenarioNames(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := scenarioNamed(args[0])
			if err != nil {
				return misuse(err)
			}
			_, err = io.WriteString(cmd.OutOrStdout(), s.Text)
			return err
		},
	}
}
