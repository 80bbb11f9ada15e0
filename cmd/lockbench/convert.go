package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockbench/lockbench/histories"
)

type convertFlags struct {
	out, to string
	tell    string // the format of what is told
	lenient bool
}

func newConvert() *cobra.Command {
	var f convertFlags
	cmd := &cobra.Command{
		Use:   "convert FILE",
		Short: "Write a history in another format",
		Long: `Convert writes a history (a run directory, JSONL, EDN or Jepsen's log) as Jepsen's EDN, for Jepsen's own tools, or as
lockbench's JSONL. What Jepsen has no field for stands in the namespace lockbench, which its tools leave alone; from there it
can be converted back without a loss. 

An application's own log of calls is read, too: CSV with the heading who,what,key,from,to,outcome and optionally ttl and token,
or JSON objects with these fields (docs/recording.md). What is read may be compressed by gzip or zstd, and - is standard input.`,
		Example: `  lockbench convert store/failover-async-repl/latest -o history.edn
  lockbench convert history.edn -o history.jsonl
  lockbench convert jepsen.log --to edn
  lockbench convert calls.csv -o history.jsonl`,
		Args: oneFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			format, err := f.format(args[0])
			if err != nil {
				return usage(err)
			}
			if err := f.tells(); err != nil {
				return usage(err)
			}
			return f.convert(args[0], format, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags := cmd.Flags()
	flags.StringVarP(&f.out, "output", "o", "", "file to write (default: standard output)")
	flags.StringVar(&f.to, "to", "", "edn or jsonl (default: as the name of --output ends)")
	flags.BoolVar(&f.lenient, "lenient", false, "leave out lines that are not sound, and say which")
	formatFlag(cmd, &f.tell)
	// It fails only for a flag that does not exist.
	_ = cmd.RegisterFlagCompletionFunc("to", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return targets(), cobra.ShellCompDirectiveNoFileComp
	})
	return cmd
}

// tells finds out whether what --format asks for has a place to be told.
func (f *convertFlags) tells() error {
	if err := oneOf("format", f.tell, formats()); err != nil {
		return err
	}
	if f.tell == formatJSON && f.out == "" {
		return errors.New("--format json tells on standard output what was written elsewhere; it needs --output FILE")
	}
	return nil
}

// targets are the formats that can be written.
func targets() []string { return []string{string(histories.EDN), string(histories.JSONL)} }

func (f *convertFlags) format(path string) (histories.Format, error) {
	if f.to != "" {
		return histories.Format(f.to), oneOf("format", f.to, targets())
	}
	switch filepath.Ext(f.out) {
	case ".edn":
		return histories.EDN, nil
	case ".jsonl":
		return histories.JSONL, nil
	}
	if ext := strings.ToLower(filepath.Ext(path)); f.out == "" && (ext == ".csv" || ext == ".json") {
		return histories.JSONL, nil
	}
	return "", errors.New("convert needs --to edn or --to jsonl, or an --output whose name ends so")
}

func (f *convertFlags) convert(path string, format histories.Format, stdout, stderr io.Writer) error {
	if f.out == "" {
		_, err := f.write(path, format, stdout, stderr)
		return err
	}
	// The file appears whole or not at all.
	tmp, err := os.CreateTemp(filepath.Dir(f.out), ".convert-*")
	if err != nil {
		return failure(fmt.Errorf("cannot write %s: %w", f.out, err))
	}
	defer func() { _ = os.Remove(tmp.Name()) }() // it is gone if all went well
	done, err := f.write(path, format, tmp, stderr)
	if err != nil {
		return errors.Join(err, tmp.Close())
	}
	if err := errors.Join(tmp.Chmod(0o644), tmp.Close()); err != nil {
		return failure(fmt.Errorf("cannot write %s: %w", f.out, err))
	}
	if err := os.Rename(tmp.Name(), f.out); err != nil {
		return failure(fmt.Errorf("cannot write %s: %w", f.out, err))
	}
	if f.tell == formatJSON {
		return printJSON(stdout, done)
	}
	return nil
}

func (f *convertFlags) write(path string, format histories.Format, w io.Writer, stderr io.Writer) (convertDocument, error) {
	done := convertDocument{Schema: outputSchema, Output: f.out, To: format, Skipped: []string{}}
	out, err := histories.NewEncoder(w, format)
	if err != nil {
		return done, usage(err)
	}
	file, err := histories.EachEvent(path, f.lenient, nil, func(_ int, e histories.Event) error {
		done.Events++
		return out.Encode(&e)
	})
	if err != nil {
		return done, unreadable(err, f.lenient)
	}
	if err := empty(file, done.Events); err != nil {
		return done, usage(err)
	}
	done.File, done.From = file.Path, file.Format
	for _, s := range file.Skipped {
		fmt.Fprintln(stderr, "lockbench: skipped "+s.Error())
		done.Skipped = append(done.Skipped, s.Error())
	}
	if err := out.Close(); err != nil {
		return done, failure(err)
	}
	return done, nil
}
