package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is set by the linker; see the Makefile.
var version = ""

func newVersion() *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := oneOf("format", format, formats()); err != nil {
				return usage(err)
			}
			if format == formatJSON {
				return printJSON(cmd.OutOrStdout(), versionDocument{outputSchema, buildVersion(), runtime.Version(), runtime.GOOS, runtime.GOARCH})
			}
			if _, err := fmt.Fprint(cmd.OutOrStdout(), versionLine()); err != nil {
				return failure(err)
			}
			return nil
		},
	}
	formatFlag(cmd, &format)
	return cmd
}

func versionLine() string {
	return fmt.Sprintf("lockbench %s %s %s/%s\n", buildVersion(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// buildVersion is the version of this program.
func buildVersion() string { return versionOf(version, debug.ReadBuildInfo) }

// versionOf is the linker's version, or that of the module as go install MODULE@VERSION and a build in a
// checkout note it, or "devel".
func versionOf(linked string, read func() (*debug.BuildInfo, bool)) string {
	if linked != "" {
		return linked
	}
	if info, ok := read(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "devel"
}
