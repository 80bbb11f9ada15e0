package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/lockbench/lockbench/internal/report"
)

// volumeFlags adds -q and -v to all commands. They change what is told for people: the exit code, JSON and files are the same. What it
// returns heeds them.
func volumeFlags(root *cobra.Command) func(*cobra.Command, config) error {
	var quiet, verbose bool
	root.PersistentFlags().BoolVarP(&quiet, "quiet", "q", false, "tell the verdict alone, and errors")
	root.PersistentFlags().BoolVarP(&verbose, "verbose", "v", false, "tell also each run by itself, and which version, store and configuration it is")
	return func(cmd *cobra.Command, c config) error {
		var volume report.Volume
		switch {
		case quiet && verbose:
			return usage(errors.New("--quiet and --verbose do not go together"))
		case quiet:
			volume = report.Terse
		case verbose:
			volume = report.Full
			surroundings(cmd, cmd.ErrOrStderr())
			c.told(cmd.ErrOrStderr(), cmd)
		default:
			return nil
		}
		root.SetOut(voice{cmd.OutOrStdout(), volume})
		root.SetErr(voice{cmd.ErrOrStderr(), volume})
		return nil
	}
}

// voice is where a command writes that was asked to tell less or more than usual.
type voice struct {
	io.Writer
	volume report.Volume
}

// volumeOf says how much is to be told there.
func volumeOf(w io.Writer) report.Volume {
	if v, ok := w.(voice); ok {
		return v.volume
	}
	return report.Usual
}

// fileOf is the file that is written to, or nil.
func fileOf(w io.Writer) *os.File {
	if v, ok := w.(voice); ok {
		w = v.Writer
	}
	if p, ok := w.(*asciiTerminal); ok {
		return p.file
	}
	f, _ := w.(*os.File)
	return f
}

// unlessTerse is w, or nowhere if the verdict alone is wanted.
func unlessTerse(w io.Writer) io.Writer {
	if volumeOf(w) == report.Terse {
		return io.Discard
	}
	return w
}

// surroundings tells what a command depends on beside its arguments.
func surroundings(cmd *cobra.Command, stderr io.Writer) {
	if cmd.Name() != "version" { // which tells it anyhow
		fmt.Fprint(stderr, versionLine())
	}
	for _, name := range []string{"store", "out"} {
		flag := cmd.Flags().Lookup(name)
		if flag == nil || flag.Value.String() == noStore {
			continue
		}
		store, err := filepath.Abs(flag.Value.String())
		if err != nil { // nobody knows where we are
			store = flag.Value.String()
		}
		fmt.Fprintln(stderr, report.Clean("store "+store))
	}
}
