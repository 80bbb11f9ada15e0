package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockbench/lockbench/examples"
)

func newInit() *cobra.Command {
	var force bool
	cmd := &cobra.Command{
		Use:   "init " + strings.Join(workerLanguages(), "|") + " [DIR]",
		Short: "Begin with a lock of your own, in a language of yours",
		Long: `Init writes a worker into DIR, or here: a lock to fill in, which is sound as it is, the loop that speaks lockbench's protocol
(docs/worker-protocol.md), a job for GitHub Actions, and a README that says how to go on. What is there already it leaves alone.`,
		Example: `  lockbench init python my-lock
  lockbench init go`,
		ValidArgs: workerLanguages(),
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) == 0:
				return usage(fmt.Errorf("init needs a language: %s", strings.Join(workerLanguages(), ", ")))
			case len(args) > 2:
				return usage(fmt.Errorf("init takes a language and a directory, found %q beside", args[2]))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			language, err := examples.Find(args[0])
			if err != nil {
				return usage(err)
			}
			dir := "."
			if len(args) == 2 {
				dir = args[1]
			}
			return begin(language, dir, force, cmd.OutOrStdout())
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "replace files that are there")
	return cmd
}

func workerLanguages() []string {
	var names []string
	for _, l := range examples.Languages() {
		names = append(names, l.Name)
	}
	return names
}

// begin writes a project into dir: all of its files, or none.
func begin(language examples.Language, dir string, force bool, stdout io.Writer) error {
	files, err := language.Project()
	if err != nil {
		return failure(err)
	}
	var there []string
	for _, f := range files {
		if _, err := os.Lstat(filepath.Join(dir, f.Name)); err == nil {
			there = append(there, f.Name)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return usage(err)
		}
	}
	if len(there) > 0 && !force {
		return usage(fmt.Errorf("%s is in %s already; want another directory, or --force to replace it", strings.Join(there, ", "), dir))
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return usage(err)
	}
	for _, f := range files {
		if err := os.WriteFile(filepath.Join(dir, f.Name), f.Data, 0o644); err != nil {
			return failure(err)
		}
		if _, err := fmt.Fprintln(stdout, "wrote", filepath.Join(dir, f.Name)); err != nil {
			return failure(err)
		}
	}
	next := language.Commands()
	if dir != "." {
		next = "cd " + quoted(dir) + " && " + next
	}
	if _, err := fmt.Fprintf(stdout, "\nPut your lock into %s. Then:\n  %s\n", language.Lock, next); err != nil {
		return failure(err)
	}
	return nil
}
