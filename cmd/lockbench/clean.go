package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/lockbench/lockbench/docker"
	"github.com/lockbench/lockbench/internal/harness"
)

func newClean() *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "clean",
		Short: "Remove what killed runs left behind: containers, networks, and keys on your own servers",
		Long: `Clean removes the containers and networks of runs on backend docker whose lockbench is gone, and the keys of such runs on
backend external, as the runs wrote them down in ~/.local/state/lockbench. It leaves those of living runs, and everything that
is not lockbench's, alone, and results too: those lockbench prune removes. The login of your own servers is not written down: LOCKBENCH_REDIS_USER and
LOCKBENCH_REDIS_PASSWORD tell it.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := oneOf("format", format, formats()); err != nil {
				return usage(err)
			}
			out := cmd.OutOrStdout()
			found := cleanDocument{Schema: outputSchema, Removed: []docker.Cleaned{}, Left: []docker.Cleaned{}}
			tell := func(c docker.Cleaned) {
				found.add(c)
				if format == formatText {
					fmt.Fprintln(unlessTerse(out), c)
				}
			}
			keys, err := cleanServers(cmd.Context(), tell)
			engine := docker.Clean(cmd.Context(), tell)
			if missing, ok := errors.AsType[*docker.MissingError](engine); ok && keys > 0 {
				fmt.Fprintf(cmd.ErrOrStderr(), "lockbench: containers were not looked for: %v\n", missing)
				engine = nil
			}
			err = errors.Join(err, engine)
			if err == nil && format == formatText {
				return nil
			}
			return found.end(out, format, err)
		},
	}
	formatFlag(cmd, &format)
	return cmd
}

// cleanServers removes what killed runs left on the user's own servers. It returns on how many.
func cleanServers(ctx context.Context, tell func(docker.Cleaned)) (servers int, err error) {
	var errs []error
	err = harness.CleanServers(ctx, os.Getenv("LOCKBENCH_REDIS_USER"), os.Getenv("LOCKBENCH_REDIS_PASSWORD"), func(c harness.CleanedServer) {
		if c.Err != nil {
			errs = append(errs, fmt.Errorf("keys *%s* may be left on %s: %w", c.Prefix, c.Server, c.Err))
			return
		}
		servers++
		tell(docker.Cleaned{Run: c.Run(), Kind: "keys", Name: fmt.Sprintf("on %s (%d)", c.Server, c.Keys)})
	})
	return servers, errors.Join(append(errs, err)...)
}
