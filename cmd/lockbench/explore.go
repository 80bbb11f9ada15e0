package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockbench/lockbench/cmd/lockbench/internal/gate"
	"github.com/lockbench/lockbench/cmd/lockbench/internal/progress"
	"github.com/lockbench/lockbench/cmd/lockbench/internal/report"
	"github.com/lockbench/lockbench/harness"
	"github.com/lockbench/lockbench/internal/explore"
	"github.com/lockbench/lockbench/internal/libraries"
	"github.com/lockbench/lockbench/internal/words"
	"github.com/lockbench/lockbench/locks"
)

// deepest is how many deviations a schedule may have.
const deepest = 1

type exploreFlags struct {
	depth, jobs int
	budget      time.Duration
	programs    []string
	out         string
}

func newExplore() *cobra.Command {
	var f exploreFlags
	cmd := &cobra.Command{
		Use:   "explore LOCK",
		Short: "Look for schedules that break a lock and that nobody wrote",
		Long: `Explore lets clients use a lock in small programs, plays each of them in virtual time, and again with each deviation at each command
that crosses the wire: it is delayed, its reply gets lost, its client stands still or crashes, the server dies or forgets, a clock
jumps. What the lock breaks there is its own fault if locks of its class keep it under whatever deviation of the same kind in the
same program; otherwise it is a weakness of the class, and told as one.

A schedule that breaks the lock is made as short as it can be and written into a file, which lockbench run plays on every backend.

It exits with 0 if all schedules were played and none breaks the lock, with 1 if one does, and with 2 if none was found in
the time that there was.`,
		Example: `  lockbench explore setnx-px-get-del
  lockbench explore redsync --budget 60s
  lockbench explore rw-hash-timestamp --depth 0`,
		Args: oneLock,
		RunE: func(cmd *cobra.Command, args []string) error {
			lock, err := f.validate(args[0])
			if err != nil {
				return usage(err)
			}
			return f.run(cmd.Context(), lock, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return lockNames(), cobra.ShellCompDirectiveNoFileComp
		},
	}
	flags := cmd.Flags()
	flags.IntVar(&f.depth, "depth", deepest, "deviations of a schedule at most: 0 or 1")
	flags.DurationVar(&f.budget, "budget", 0, "how long to look (default: until all schedules are played)")
	flags.StringSliceVar(&f.programs, "program", nil, "programs, comma-separated (default: all that the lock can play)")
	flags.IntVar(&f.jobs, "jobs", 0, "runs at a time (default: one per processor)")
	flags.StringVar(&f.out, "out", filepath.Join("store", "explore"), `directory in which schedules are kept, or "none"`)
	return cmd
}

// oneLock is the argument of a command that is about a lock.
func oneLock(cmd *cobra.Command, args []string) error {
	if len(args) == 1 {
		return nil
	}
	return usage(fmt.Errorf("%s needs the name of one lock, found %d (lockbench list locks)", cmd.CommandPath(), len(args)))
}

func (f *exploreFlags) validate(name string) (locks.Spec, error) {
	lock, err := libraries.Catalogue().Find(name)
	if err != nil {
		return lock, err
	}
	switch {
	case f.depth < 0 || f.depth > deepest:
		return lock, fmt.Errorf("--depth is %d, want 0 or %d", f.depth, deepest)
	case f.budget < 0:
		return lock, fmt.Errorf("--budget is %v, want more than 0", f.budget)
	case f.jobs < 0:
		return lock, fmt.Errorf("--jobs is %d, want at least 1", f.jobs)
	}
	all, err := explore.Programs(lock)
	if err != nil {
		return lock, err
	}
	var names []string
	for _, p := range all {
		names = append(names, p.Name)
	}
	for _, p := range f.programs {
		if err := oneOf("program", p, names); err != nil {
			return lock, err
		}
	}
	return lock, nil
}

func (f *exploreFlags) run(ctx context.Context, lock locks.Spec, stdout, stderr io.Writer) error {
	defer debug.SetGCPercent(debug.SetGCPercent(thrift))
	looking, cancel := context.WithCancel(ctx)
	if f.budget > 0 {
		looking, cancel = context.WithTimeout(ctx, f.budget)
	}
	defer cancel()
	if f.jobs == 0 {
		f.jobs = runtime.GOMAXPROCS(0)
	}
	how := &exploreProgress{Teller: newProgress(stderr)}
	opt := explore.Options{
		Backend: harness.Embedded(), Depth: f.depth, Programs: f.programs, Among: libraries.Catalogue(), Jobs: f.jobs, Done: how.done,
	}
	stop := ticking(how.tell)
	found, err := explore.Explore(looking, lock, opt)
	stop()
	how.End()
	if err != nil {
		return failure(err)
	}
	fmt.Fprintf(stdout, "%s  %s of %s in virtual time, each with %s, and %s of other locks to measure it by\n", lock.Name, words.Count(found.Runs, "schedule"),
		words.Count(found.Explored, "program"), map[int]string{0: "no deviation", 1: "one deviation at most"}[f.depth], words.Count(found.Measures, "run"))
	for i, finding := range found.Findings {
		if err := f.tell(ctx, i+1, finding, lock, opt, stdout); err != nil {
			return failure(err)
		}
	}
	f.tellRest(found, stdout)
	switch {
	case ctx.Err() != nil:
		return failure(errors.New("interrupted before all schedules were played"))
	case len(found.Findings) > 0:
		fmt.Fprintf(stdout, "\nVerdict: broken. It does not keep what locks of its class keep, by %s.\n", words.Count(len(found.Findings), "schedule"))
		return &exitError{code: exitUnexpected}
	case found.Explored < found.Programs:
		fmt.Fprintf(stdout, "\nVerdict: nothing was found in %v, and %d of %s were explored: nothing can be said of the others.\n",
			f.budget, found.Explored, words.Count(found.Programs, "program"))
		return &exitError{code: exitUnknown}
	case len(found.GivenUp) > 0:
		fmt.Fprintf(stdout, "\nVerdict: nothing was found, and %s could not be played to the end: nothing can be said of them.\n", words.Count(len(found.GivenUp), "schedule"))
		return &exitError{code: exitUnknown}
	}
	fmt.Fprintf(stdout, "\nVerdict: no schedule breaks what locks of its class keep.\n")
	return nil
}

// tell tells a finding, made as short as it can be, and writes its schedule.
func (f *exploreFlags) tell(ctx context.Context, n int, found explore.Finding, lock locks.Spec, opt explore.Options, stdout io.Writer) error {
	if ctx.Err() == nil {
		small, _, err := explore.Shrink(ctx, found, lock, opt)
		if err != nil && ctx.Err() == nil {
			return err
		}
		small.Broken, found = found.Broken, small
	}
	fmt.Fprintf(stdout, "\nBROKEN   %s\n         %s\n", strings.Join(report.Labels(found.Broken), ", "), found.Title())
	if len(found.KeptBy) > 0 {
		fmt.Fprintf(stdout, "         %s kept by %s\n", are(len(found.Broken)), strings.Join(found.KeptBy, ", "))
	} else {
		fmt.Fprintln(stdout, "         no lock of its class can play the program, so that nobody knows whether it could be kept")
	}
	text, err := found.Text(ctx, lock, opt)
	if err != nil {
		return err
	}
	for line := range strings.Lines(text.String()) {
		fmt.Fprintf(stdout, "           %s", line)
	}
	if f.out == "none" {
		return nil
	}
	name := filepath.Join(f.out, lock.Name, fmt.Sprintf("%d%s", n, scheduleSuffix))
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return fmt.Errorf("cannot keep the schedule: %w", err)
	}
	if err := gate.WriteFile(name, []byte(text.String())); err != nil {
		return err
	}
	fmt.Fprintf(stdout, "         lockbench run %s\n", name)
	return nil
}

func are(n int) string {
	if n == 1 {
		return "it is"
	}
	return "they are"
}

// tellRest tells what is no finding.
func (f *exploreFlags) tellRest(found explore.Found, stdout io.Writer) {
	if len(found.Weaknesses) > 0 {
		by := map[string][]string{}
		for _, w := range found.Weaknesses {
			kind := w.Kind
			if kind == "" {
				kind = "in fair weather"
			}
			by[report.Label(w.Property)] = append(by[report.Label(w.Property)], kind)
		}
		fmt.Fprintln(stdout, "\nWeaknesses of its class, which other locks of it have too:")
		for _, property := range slices.Sorted(maps.Keys(by)) {
			fmt.Fprintf(stdout, "  %s: %s\n", property, strings.Join(slices.Compact(slices.Sorted(slices.Values(by[property]))), "; "))
		}
	}
	if found.Missed > 0 {
		fmt.Fprintf(stdout, "\nIn %s something that was to happen did not.\n", words.Count(found.Missed, "schedule"))
	}
	for i, why := range found.GivenUp {
		if i == 3 {
			fmt.Fprintf(stdout, "… and %d more\n", len(found.GivenUp)-i)
			break
		}
		fmt.Fprintf(stdout, "\ngiven up: %s\n", report.Harmless(why))
	}
}

// exploreProgress tells how many schedules were played.
type exploreProgress struct {
	*progress.Teller
	runs    atomic.Int64
	program atomic.Value // of string
}

func (e *exploreProgress) done(program string, runs int) {
	e.runs.Store(int64(runs))
	e.program.Store(program)
}

// tell is called from time to time.
func (e *exploreProgress) tell() {
	program, _ := e.program.Load().(string)
	e.Tell(progress.Unknown, words.Count(int(e.runs.Load()), "schedule"), program)
}
