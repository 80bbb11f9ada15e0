package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockbench/lockbench/docker"
	"github.com/lockbench/lockbench/docker/redis"
)

func newImage() *cobra.Command {
	var again bool
	var dir string
	cmd := &cobra.Command{
		Use:   "image",
		Short: "Make the image of backend docker, with or without a registry",
		Long: `Image makes ` + docker.Image + `, which backend docker runs, if it is missing. Its base, debian:bookworm-slim, is pulled. Where no
registry answers it is made from the Debian archive: as root or with passwordless sudo, by debootstrap. It needs bash, the docker
command and a Docker engine, and no checkout of lockbench.

--output writes what the image is made from into a directory instead, to be read or changed. An image of your own can be used by
lockbench run --backend docker --image NAME. It must have sh and redis-server 7.0 or newer, or a server that answers to that name.
Faults that drop packets want iptables in it, and wrong clocks of servers libfaketime.`,
		Example: "  lockbench image\n  lockbench image --again\n  lockbench image --output redis-image",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if dir != "" {
				if again {
					return usage(errors.New("--again makes the image and --output only writes its files; want one of them"))
				}
				return writeRecipe(dir, cmd.OutOrStdout())
			}
			return makeImage(cmd.Context(), again, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	cmd.Flags().BoolVar(&again, "again", false, "make it again, although it is there")
	cmd.Flags().StringVarP(&dir, "output", "o", "", "write the files that it is made from into this new directory, and make nothing")
	return cmd
}

// writeRecipe writes the files into a directory that must not be there yet.
func writeRecipe(dir string, stdout io.Writer) error {
	if _, err := os.Lstat(dir); err == nil {
		return usage(fmt.Errorf("%s is there already; want the name of a new directory", dir))
	}
	if err := os.CopyFS(dir, redis.Files()); err != nil {
		return failure(err)
	}
	fmt.Fprintf(stdout, "Written: %s\nTo make the image: bash %s\n", dir, quoted(filepath.Join(dir, "build.sh")))
	return nil
}

// makeImage makes the image by its script.
func makeImage(ctx context.Context, again bool, stdout, stderr io.Writer) (err error) {
	dir, err := os.MkdirTemp("", "lockbench-image-")
	if err != nil {
		return failure(err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := os.CopyFS(dir, redis.Files()); err != nil {
		return failure(err)
	}
	args := []string{filepath.Join(dir, "build.sh")}
	if again {
		args = append(args, "--again")
	}
	cmd := exec.CommandContext(ctx, "bash", args...)
	cmd.Stdout, cmd.Stderr = stdout, stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // it removes what it has begun
	cmd.WaitDelay = 10 * time.Second
	if err := cmd.Run(); err != nil {
		return failure(fmt.Errorf("the image was not made: %w; its script says why", err))
	}
	return nil
}
