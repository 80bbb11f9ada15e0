package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockbench/lockbench/cmd/lockbench/internal/gate"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/catalogue"
	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/libraries"
	"github.com/lockbench/lockbench/internal/report"
	"github.com/lockbench/lockbench/internal/report/picture"
	"github.com/lockbench/lockbench/internal/words"
)

const (
	formatHTML = "html"
	formatSVG  = "svg"
	toStdout   = "-"
)

type reportFlags struct {
	format, out string
	lang        spoken
	asIssue     bool
	libraries   bool // not of a run, but of real libraries
}

func newReport() *cobra.Command {
	var f reportFlags
	cmd := &cobra.Command{
		Use:   "report DIR | --libraries [FILE]",
		Short: "Draw a recorded run again",
		Long: `Report draws a run that is kept: as a page to be opened in a browser, which needs nothing else, as text, as JSON, or its
picture alone as SVG. DIR is a run directory, a link to one such as store/<scenario>/latest, or a directory with nothing but a
history.jsonl.

A run that was never judged, because it was killed, is judged now. Of files that are damaged what is sound is drawn, and the
page and standard error tell of the damage. It exits with 0 if the run was drawn, whatever its verdict.

With --issue it writes what the run found as Markdown, ready to be sent to those who maintain the lock: what, with which versions, the
steps and the command that show it, what was expected, and what was seen. It exits with 3 if the run found nothing.

With --libraries it draws no run, but what real libraries were seen to show: a table of libraries and named anomalies, and the proof of each
finding (docs/libraries.md). FILE has such results; without it those are drawn that lockbench was built with.`,
		Example: `  lockbench report store/failover-async-repl/latest
  lockbench report store/failover-async-repl/latest -o failover.html
  lockbench report store/failover-async-repl/latest --lang zh
  lockbench report store/failover-async-repl/latest --format text
  lockbench report --issue store/failover-async-repl/latest
  lockbench report --libraries -o libraries.html`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 || len(args) == 0 && f.libraries {
				return nil
			}
			if f.libraries {
				return usage(fmt.Errorf("%s --libraries takes one file, found %d (%[1]s --help)", cmd.CommandPath(), len(args)))
			}
			return usage(fmt.Errorf("%s needs one run directory, found %d (%[1]s --help)", cmd.CommandPath(), len(args)))
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.libraries {
				return f.ofLibraries(args, cmd)
			}
			if err := oneOf("format", f.format, reportFormats()); err != nil {
				return usage(err)
			}
			if f.asIssue && (cmd.Flags().Changed("format") || cmd.Flags().Changed("lang")) {
				return usage(errors.New("--issue writes Markdown in English, and goes with neither --format nor --lang"))
			}
			return f.report(cmd.Context(), args[0], cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.format, "format", formatHTML, strings.Join(reportFormats(), ", "))
	f.lang.flag(cmd)
	flags.BoolVar(&f.asIssue, "issue", false, "write what the run found as Markdown, to be sent to those who maintain the lock")
	flags.BoolVar(&f.libraries, "libraries", false, "draw what real libraries were seen to show: html, markdown or json")
	flags.StringVarP(&f.out, "output", "o", "", "file to write, or - for standard output (default: report.html in DIR or libraries.html, and standard output for all else)")
	// It fails only for a flag that does not exist.
	_ = cmd.RegisterFlagCompletionFunc("format", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return reportFormats(), cobra.ShellCompDirectiveNoFileComp
	})
	return cmd
}

func reportFormats() []string { return []string{formatHTML, formatText, formatJSON, formatSVG} }

func (f *reportFlags) report(ctx context.Context, path string, stdout, stderr io.Writer) error {
	r, notices, err := stored(ctx, path)
	if err != nil {
		return err
	}
	for _, n := range notices {
		fmt.Fprintln(stderr, "lockbench: "+n)
	}
	if f.asIssue {
		return f.issue(r, stdout)
	}
	out := f.out
	if out == "" && f.format == formatHTML {
		out = filepath.Join(r.Dir, histories.ReportFile)
	}
	var b bytes.Buffer
	switch f.format {
	case formatText:
		err = report.Text(&b, r, styleOf(f.screen(stdout)))
	case formatJSON:
		err = report.JSON(&b, r)
	case formatSVG:
		err = picture.SVG(&b, r)
	default:
		err = drawPage(&b, r, filepath.Dir(out), notices, f.lang.Language)
	}
	if err != nil {
		return failure(err)
	}
	return f.write(b.Bytes(), out, stdout)
}

// write writes a page into a file, or to standard output.
func (f *reportFlags) write(page []byte, out string, stdout io.Writer) (err error) {
	if out == "" || out == toStdout {
		_, err = stdout.Write(page)
	} else if err = gate.WriteFile(out, page); err == nil {
		fmt.Fprintln(stdout, "Written: "+report.Harmless(out))
	}
	if err != nil {
		return failure(err)
	}
	return nil
}

// screen is where text is to be read: nowhere, if it goes to a file.
func (f *reportFlags) screen(stdout io.Writer) io.Writer {
	if f.out == "" || f.out == toStdout {
		return stdout
	}
	return io.Discard
}

// stored reads a run, and judges it if nobody has. The notices tell of damage, and of what was
// done about it.
func stored(ctx context.Context, path string) (report.Run, []string, error) {
	dir, err := runDirectory(path)
	if err != nil {
		return report.Run{}, nil, usage(err)
	}
	r, damage := report.Load(dir)
	damage = errors.Join(damage, withKept(ctx, &r))
	var notices []string
	known := r.Meta.Schema != 0
	if !known { // the history may tell something all the same
		if errors.Is(damage, fs.ErrNotExist) {
			damage = nil
		}
		file, err := histories.ReadFile(filepath.Join(dir, histories.EventsFile), false)
		if len(file.Events) == 0 {
			if failed := errors.Join(damage, err); failed != nil {
				return r, nil, unreadable(failed, true)
			}
			return r, nil, usage(empty(file, 0))
		}
		damage = errors.Join(damage, err)
		r.Meta, r.Events = histories.Meta{Scenario: filepath.Base(dir)}, file.Events
		notices = append(notices, fmt.Sprintf("there is no sound %s: it is not known what was run", histories.RunFile))
	}
	if damage != nil {
		for line := range strings.Lines(damage.Error()) {
			notices = append(notices, "damaged, and drawn as far as it is sound: "+strings.TrimSpace(line))
		}
	}
	if r.Phase == histories.PhaseRunning {
		notices = append(notices, "the run did not come to its end: this is what was recorded until then")
	}
	var meta *histories.Meta
	if known {
		meta = harness.WithTerms(&r.Meta, libraries.Catalogue())
	}
	if isCut(r, damage) {
		r.Judgement = judgedAlone(harness.JudgeCut(ctx, r.Events, r.Exchanges, meta))
		r.Notes = append(r.Notes, fmt.Sprintf("the history is cut after %s. What came later may have been a violation, so nothing passes.", words.Count(len(r.Events), "event")))
		if ctx.Err() != nil {
			return r, nil, failure(errors.New("interrupted before the run was judged"))
		}
		return r, append(notices, "what is left was judged now, and set against no expectation"), nil
	}
	if len(r.Results) > 0 || len(r.HarnessErrors) > 0 {
		return r, notices, nil
	}
	r.Judgement = judgedAlone(harness.Judge(ctx, r.Events, r.Exchanges, meta, nil))
	if ctx.Err() != nil {
		return r, nil, failure(errors.New("interrupted before the run was judged"))
	}
	return r, append(notices, "there was no judgement: the run was judged now, and set against no expectation"), nil
}

// isCut reports whether a run's history lacks its end: it was killed while it ran, or the file has
// lost something since.
func isCut(r report.Run, damage error) bool {
	var cut *histories.CutError
	var line *histories.LineError
	torn := errors.As(damage, &line) && filepath.Base(line.File) == histories.EventsFile
	return r.Phase == histories.PhaseRunning || torn || errors.As(damage, &cut)
}

// runDirectory finds the directory of a run that a path means. An error says which path may
// have been meant.
func runDirectory(path string) (string, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", noRun(path)
	case err != nil:
		return "", err
	case !info.IsDir() && filepath.Base(path) == histories.EventsFile:
		return filepath.Dir(path), nil
	case !info.IsDir():
		return "", fmt.Errorf("%s is a file, want a run directory such as store/<scenario>/%s", path, histories.Latest)
	}
	for _, name := range []string{histories.RunFile, histories.EventsFile} {
		if _, err := os.Stat(filepath.Join(path, name)); err == nil {
			return path, nil
		}
	}
	for _, deeper := range []string{histories.Latest, filepath.Join("*", histories.Latest)} {
		if runs, err := filepath.Glob(filepath.Join(path, deeper)); err == nil && len(runs) > 0 {
			return "", fmt.Errorf("%s has runs in it and is none; did you mean %s?", path, runs[0])
		}
	}
	return "", fmt.Errorf("%s is no run directory: it has neither %s nor %s; want one such as store/<scenario>/%s",
		path, histories.RunFile, histories.EventsFile, histories.Latest)
}

// noRun says that there is nothing at a path, and what there is that has a similar name.
func noRun(path string) error {
	parent, rest := filepath.Dir(filepath.Clean(path)), ""
	name := filepath.Base(path)
	for parent != "." && parent != string(filepath.Separator) {
		if _, err := os.Stat(parent); err == nil {
			break
		}
		parent, name, rest = filepath.Dir(parent), filepath.Base(parent), filepath.Join(name, rest)
	}
	entries, _ := os.ReadDir(parent) // without them nothing is suggested
	var known []string
	for _, e := range entries {
		known = append(known, e.Name())
	}
	if nearest := catalogue.Nearest(name, known); nearest != "" {
		return fmt.Errorf("no run directory %q; did you mean %s?", path, filepath.Join(parent, nearest, rest))
	}
	return fmt.Errorf("no run directory %q; lockbench run keeps its runs in store/<scenario>/<time>-<seed>, and store/<scenario>/%s is the newest", path, histories.Latest)
}
