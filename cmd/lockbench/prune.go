package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/report"
	"github.com/lockbench/lockbench/internal/words"
)

type pruneFlags struct {
	store, format string
	keep          int           // runs of each scenario, the newest; -1: none for being new
	older         time.Duration // than which runs must be; 0: of any age
	all, dry      bool
	now           func() time.Time
}

func newPrune() *cobra.Command {
	f := pruneFlags{now: time.Now}
	cmd := &cobra.Command{
		Use:   "prune",
		Short: "Remove old runs from the store",
		Long: `Prune removes runs that are kept in the store: those beyond the newest of each scenario (--keep), those that began long ago
(--older-than), and with both only what is both.

It leaves every run that did not come out as expected or has no verdict, unless --all is given; a run that is being written; one to whose
directory somebody has added a file; and everything that is no run of lockbench. What runs left outside of the store, such as
containers, lockbench clean removes.`,
		Example: `  lockbench prune --keep 20 --dry-run
  lockbench prune --older-than 720h
  lockbench prune --keep 5 --older-than 24h --all`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.validate(cmd.Flags().Changed); err != nil {
				return usage(err)
			}
			return f.run(cmd.OutOrStdout())
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.store, "store", usualStore(os.Getenv), "directory that runs are kept in (lockbench run --out)")
	flags.IntVar(&f.keep, "keep", -1, "keep the newest runs of each scenario, so many")
	flags.DurationVar(&f.older, "older-than", 0, "keep runs that began within this time, such as 720h")
	flags.BoolVar(&f.all, "all", false, "remove also runs that were not as expected, or have no verdict")
	flags.BoolVar(&f.dry, "dry-run", false, "remove nothing, and tell what would be removed")
	formatFlag(cmd, &f.format)
	flags.Lookup("keep").DefValue = "0" // help tells no default then
	return cmd
}

func (f *pruneFlags) validate(changed func(flag string) bool) error {
	switch {
	case !changed("keep") && !changed("older-than"):
		return errors.New("want --keep N, --older-than DURATION, or both: otherwise everything would go")
	case changed("keep") && f.keep < 0:
		return fmt.Errorf("--keep is %d, want 0 or more", f.keep)
	case changed("older-than") && f.older <= 0:
		return fmt.Errorf("--older-than is %v, want more than 0", f.older)
	case f.store == "" || f.store == noStore:
		return fmt.Errorf("--store is %q, want a directory", f.store)
	}
	return oneOf("format", f.format, formats())
}

// prunedRun is a run that was removed, or would have been if it were not for Left.
type prunedRun struct {
	Run     string    `json:"run"` // its directory
	Started time.Time `json:"started"`
	Outcome string    `json:"outcome,omitempty"` // empty: it has no verdict
	Bytes   int64     `json:"bytes"`
	Left    string    `json:"left,omitempty"` // why it was left
}

// pruneDocument is what prune prints.
type pruneDocument struct {
	Schema  int         `json:"schema"`
	Store   string      `json:"store"`
	DryRun  bool        `json:"dry_run"`
	Removed []prunedRun `json:"removed"`
	Left    []prunedRun `json:"left"`
	Kept    int         `json:"kept"` // runs that are new enough
	Error   string      `json:"error,omitempty"`
}

func (f *pruneFlags) run(stdout io.Writer) error {
	d := pruneDocument{Schema: outputSchema, Store: f.store, DryRun: f.dry, Removed: []prunedRun{}, Left: []prunedRun{}}
	scenarios, err := os.ReadDir(f.store)
	if errors.Is(err, fs.ErrNotExist) {
		return usage(fmt.Errorf("there is no store: %w", err))
	}
	errs := []error{err}
	for _, s := range scenarios {
		if s.IsDir() {
			errs = append(errs, f.scenario(&d, filepath.Join(f.store, s.Name())))
		}
	}
	if err = errors.Join(errs...); err != nil {
		d.Error = err.Error()
	}
	if f.format == formatJSON {
		err = errors.Join(err, report.WriteJSON(stdout, d))
	} else {
		d.text(stdout)
	}
	if err != nil {
		return &exitError{code: exitHarness, err: err, told: true}
	}
	return nil
}

// scenario prunes the runs of a scenario.
func (f *pruneFlags) scenario(d *pruneDocument, dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var runs []prunedRun
	for _, e := range entries {
		if !e.IsDir() { // such as the link latest
			continue
		}
		if r, ok := runIn(filepath.Join(dir, e.Name())); ok {
			runs = append(runs, r)
		}
	}
	slices.SortStableFunc(runs, func(a, b prunedRun) int { return b.Started.Compare(a.Started) })
	var errs []error
	for i, r := range runs {
		switch {
		case i < f.keep, f.older > 0 && f.now().Sub(r.Started) < f.older:
			d.Kept++
			continue
		case !f.all && r.Outcome == "":
			r.Left = "it has no verdict"
		case !f.all && r.Outcome != checker.AsExpected.String():
			r.Left = "it did not come out as expected"
		default:
			if r.Left, err = histories.At(r.Run).Remove(f.dry); err != nil {
				errs = append(errs, err)
				continue
			}
		}
		if r.Left != "" {
			d.Left = append(d.Left, r)
		} else {
			d.Removed = append(d.Removed, r)
		}
	}
	return errors.Join(errs...)
}

// runIn is what a directory tells of the run in it. ok says that it has one.
func runIn(dir string) (r prunedRun, ok bool) {
	var meta histories.Meta
	if !readInto(filepath.Join(dir, histories.RunFile), &meta) || meta.Schema != histories.Schema || meta.Started.IsZero() {
		return r, false
	}
	r = prunedRun{Run: dir, Started: meta.Started.UTC()}
	var j checker.Judgement
	if readInto(filepath.Join(dir, histories.ResultsFile), &j) && j.Schema == checker.JudgementSchema {
		r.Outcome = j.Outcome.String()
	}
	_ = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error { // what cannot be looked at is not counted
		if err == nil && e.Type().IsRegular() {
			if info, err := e.Info(); err == nil {
				r.Bytes += info.Size()
			}
		}
		return nil
	})
	return r, true
}

// readInto reports whether a file is JSON that v could be read from.
func readInto(name string, v any) bool {
	data, err := os.ReadFile(name)
	return err == nil && json.Unmarshal(data, v) == nil
}

func (d pruneDocument) text(w io.Writer) {
	removed, bytes := "removed", int64(0)
	if d.DryRun {
		removed = "would remove"
	}
	for _, r := range d.Removed {
		bytes += r.Bytes
		fmt.Fprintln(unlessTerse(w), report.Clean(fmt.Sprintf("%s %s: %s", removed, r.Run, words.Bytes(r.Bytes))))
	}
	for _, r := range d.Left {
		fmt.Fprintln(unlessTerse(w), report.Clean(fmt.Sprintf("left %s: %s", r.Run, r.Left)))
	}
	parts := []string{fmt.Sprintf("%s %s, %s", words.Capital(removed), words.Count(len(d.Removed), "run"), words.Bytes(bytes))}
	if len(d.Left) > 0 {
		parts = append(parts, fmt.Sprintf("%d left for the reasons above", len(d.Left)))
	}
	fmt.Fprintf(w, "%s.\n", strings.Join(append(parts, fmt.Sprintf("%d new enough", d.Kept)), " · "))
}
