package main

import (
	"github.com/spf13/cobra"

	"github.com/lockbench/lockbench/docker"
)

func newClean() *cobra.Command {
	return &cobra.Command{
		Use:   "clean",
		Short: "Remove the containers and networks that killed runs left behind",
		Long: `Clean removes the containers and networks of runs on backend docker whose lockbench is gone. It leaves those of living
runs, and everything that is not lockbench's, alone.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := docker.Clean(cmd.Context(), cmd.OutOrStdout()); err != nil {
				return failure(err)
			}
			return nil
		},
	}
}
