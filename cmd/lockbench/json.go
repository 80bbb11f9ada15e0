package main

import (
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/lockbench/lockbench/docker"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/report"
)

const (
	formatText = "text"
	formatJSON = "json"
)

func formats() []string { return []string{formatText, formatJSON} }

// outputSchema is the version of what commands print as JSON, where no other room has one of
// its own.
const outputSchema = 1

// formatFlag is --format of a command that prints a result.
func formatFlag(cmd *cobra.Command, format *string) {
	cmd.Flags().StringVar(format, "format", formatText, "text or json (docs/formats.md)")
	// It fails only for a flag that does not exist.
	_ = cmd.RegisterFlagCompletionFunc("format", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return formats(), cobra.ShellCompDirectiveNoFileComp
	})
}

func printJSON(w io.Writer, v any) error {
	if err := report.WriteJSON(w, v); err != nil {
		return failure(err)
	}
	return nil
}

// errorDocument is what a command prints in place of its result.
type errorDocument struct {
	Schema int    `json:"schema"`
	Error  string `json:"error"`
	Exit   int    `json:"exit"` // the exit code
}

// errorJSON tells why a command ended without a result, if its result would have been JSON.
func errorJSON(cmd *cobra.Command, stdout io.Writer, exit *exitError) {
	if f := cmd.Flags().Lookup("format"); f != nil && f.Value.String() == formatJSON {
		// The exit code and stderr say it too, if stdout cannot be written.
		_ = report.WriteJSON(stdout, errorDocument{outputSchema, exit.Error(), exit.code})
	}
}

// versionDocument is what version prints.
type versionDocument struct {
	Schema  int    `json:"schema"`
	Version string `json:"version"` // of lockbench
	Go      string `json:"go"`
	OS      string `json:"os"`
	Arch    string `json:"arch"`
}

// convertDocument is what convert prints.
type convertDocument struct {
	Schema  int              `json:"schema"`
	File    string           `json:"file"` // that was read
	From    histories.Format `json:"from"`
	Output  string           `json:"output"` // that was written
	To      histories.Format `json:"to"`
	Events  int              `json:"events"`
	Skipped []string         `json:"skipped"` // what was not sound and left out
}

// cleanDocument is what clean prints.
type cleanDocument struct {
	Schema  int              `json:"schema"`
	Removed []docker.Cleaned `json:"removed"`
	Left    []docker.Cleaned `json:"left"` // runs
	Error   string           `json:"error,omitempty"`
}

func (d *cleanDocument) add(c docker.Cleaned) {
	if c.Left != "" {
		d.Left = append(d.Left, c)
	} else {
		d.Removed = append(d.Removed, c)
	}
}

// end prints d as JSON, if that is the format, and says how the program ends.
func (d cleanDocument) end(stdout io.Writer, format string, failed error) error {
	exit := &exitError{code: exitHarness, err: failed}
	if failed != nil {
		d.Error = failed.Error()
	}
	if format == formatJSON {
		err := report.WriteJSON(stdout, d)
		exit.told, exit.err = err == nil, errors.Join(failed, err)
	}
	if exit.err == nil {
		return nil
	}
	return exit
}
