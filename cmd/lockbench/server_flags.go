package main

import (
	"cmp"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/lockbench/lockbench/docker"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/harness"
)

// serverFlags say which server is played on, where a backend starts it.
type serverFlags struct {
	server string // of backend process; empty: redis-server on PATH
	image  string // of backend docker; empty: lockbench's own
}

// flags adds the flags to a command.
func (f *serverFlags) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.server, "server", "", "server of backend process: a path, or a name on PATH, such as valkey-server (default: redis-server on PATH)")
	cmd.Flags().StringVar(&f.image, "image", "", "image of backend docker, with redis-server in it (default: "+docker.Image+", which lockbench image makes)")
	// It fails only for a flag that does not exist.
	_ = cmd.RegisterFlagCompletionFunc("image", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return nil, cobra.ShellCompDirectiveNoFileComp // not the names of files
	})
}

// on is a backend with the server that was asked for.
func (f *serverFlags) on(ctx context.Context, b harness.Backend) (harness.Backend, error) {
	for _, own := range []struct{ flag, value, backend string }{
		{"server", f.server, histories.BackendProcess},
		{"image", f.image, histories.BackendDocker},
	} {
		if own.value != "" && b.Name != own.backend {
			return b, fmt.Errorf("--%s belongs to --backend %s, found --backend %s", own.flag, own.backend, b.Name)
		}
	}
	if server := cmp.Or(f.server, f.image); server != "" {
		return b.On(ctx, server)
	}
	return b, nil
}

// arguments are the flags as they were given, with a space before each, for commands that play the same again.
func (f *serverFlags) arguments() string {
	text := ""
	if f.server != "" {
		text += " --server " + quoted(f.server)
	}
	if f.image != "" {
		text += " --image " + quoted(f.image)
	}
	return text
}
