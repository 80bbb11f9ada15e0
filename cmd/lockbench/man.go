package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// newMan writes the manual pages that a release installs. It is for packagers, and hidden. Their date is that in SOURCE_DATE_EPOCH, or
// today.
func newMan() *cobra.Command {
	return &cobra.Command{
		Use:    "man DIR",
		Short:  "Write the manual pages of all commands into a directory",
		Hidden: true,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage(fmt.Errorf("%s wants the directory to write to, and nothing else", cmd.CommandPath()))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return err
			}
			root := cmd.Root()
			root.DisableAutoGenTag = true // so that the same version has the same pages
			return doc.GenManTree(root, &doc.GenManHeader{
				Title: "LOCKBENCH", Section: "1", Source: "lockbench " + root.Version, Manual: "lockbench",
			}, args[0])
		},
	}
}
