package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/lockbench/lockbench/docker"
)

func newClean() *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "clean",
		Short: "Remove the containers and networks that killed runs left behind",
		Long: `Clean removes the containers and networks of runs on backend docker whose lockbench is gone. It leaves those of living
runs, and everything that is not lockbench's, alone.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := oneOf("format", format, formats()); err != nil {
				return usage(err)
			}
			out := cmd.OutOrStdout()
			found := cleanDocument{Schema: outputSchema, Removed: []docker.Cleaned{}, Left: []docker.Cleaned{}}
			err := docker.Clean(cmd.Context(), func(c docker.Cleaned) {
				found.add(c)
				if format == formatText {
					fmt.Fprintln(out, c)
				}
			})
			if err == nil && format == formatText {
				return nil
			}
			return found.end(out, format, err)
		},
	}
	formatFlag(cmd, &format)
	return cmd
}
