package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/lockbench/lockbench/internal/libraries"
	"github.com/lockbench/lockbench/internal/osproc"
	"github.com/lockbench/lockbench/internal/pool"
)

// newPlay is what explore starts, several at once.
func newPlay() *cobra.Command {
	return &cobra.Command{
		Use:    "play",
		Short:  "Play the schedules of an explore that runs elsewhere",
		Args:   noArgs,
		Hidden: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			debug.SetGCPercent(thrift)
			if err := pool.Serve(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout(), libraries.Catalogue()); err != nil {
				return failure(err)
			}
			return nil
		},
	}
}

// newPlayers returns a pool of so many processes of this very program.
func newPlayers(n int) (*pool.Pool, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("it is not known what program this is: %w", err)
	}
	return pool.New(n, func() *exec.Cmd {
		cmd := exec.Command(self, "play")
		cmd.Env = append(osproc.Environment(), "GOMAXPROCS=1") // a run is one thing after another, and several processors would only pass it on
		return cmd
	}), nil
}
