package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/cmd/lockbench/internal/gate"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/libraries"
	"github.com/lockbench/lockbench/internal/report"
	"github.com/lockbench/lockbench/internal/words"
)

// modelLock is what is judged by every property of locks.
const modelLock = "lock"

// allExclusion stands for every property of exclusion.
const allExclusion = "exclusion"

// thrift is how much garbage may gather before it is collected, in percent of what is in use. As little
// is in use of the largest history, or of one run after the other, it would be collected all the time by default.
const thrift = 300

type checkFlags struct {
	model, format string
	byCalls       bool   // no model was asked for, and no property of one
	initial       string // of a register
	properties    []string
	lenient       bool
	thorough      bool
	pages         pages
	html          string // file; empty: none
	whole         int    // how many events a page is drawn of at most
	certificate   string // file; empty: none
}

func newCheck() *cobra.Command {
	f := checkFlags{whole: wholePage}
	cmd := &cobra.Command{
		Use:   "check FILE",
		Short: "Judge a recorded history",
		Long: `Check judges a history: a run directory, lockbench's history.jsonl, Jepsen's history.edn, or what Jepsen logged while its
test ran. Names that end in .jsonl, .edn and .log say which it is; of others, how they begin. A file may be compressed by gzip
or zstd, whatever its name, and - is standard input.

Model lock judges every property of locks, of a history that has attempts (lockbench run records them). A history of acquires
and releases without attempts is judged as a mutex if no model is asked for. The other models judge any history by linearizability: register (read, write, cas), counter (add, read), and locks of which the calls are
acquire and release: mutex, which anybody may release; owner-mutex, which only its holder may; reentrant-fenced, whose
holder gets it again with the token that it has, and reentrant-fenced-raised, with a higher one; rwlock, whose acquires
have the value read or write; and semaphore:N, which has N permits. Where every value is a pair [key value], as those of
Jepsen's independent keys are, each key is judged by itself; where that cannot be told, and matters, the verdict is unknown.

It exits with 0 if all that was judged holds, with 1 if something is violated, and with 2 if that cannot be said. A file that
is no history, is damaged, breaks the rules of histories, or has no call of the model, is exit 254. With --lenient lines that
are not sound are left out, counted and told; then nothing passes that they could have told of, and nothing fails that they
could have excused.

The history of a lock is not held in memory: the largest takes no more of it than what is under way at once, as long as the
keys are free now and then. Of each key the beginning, and whatever looks like a violation, is judged by two engines that must
agree; of the rest one part in a thousand is, or all with --thorough.`,
		Example: `  lockbench check store/failover-async-repl/latest
  lockbench check huge.jsonl --property exclusion
  kubectl logs job/locks | lockbench check -
  lockbench check history.jsonl --property mutual-exclusion,resource-safety
  lockbench check history.edn --html history.html
  lockbench check history.jsonl --certificate certificate.json
  lockbench check history.edn --model register --format json`,
		Args: oneFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.validate(args[0]); err != nil {
				return usage(err)
			}
			f.byCalls = !cmd.Flags().Changed("model") && len(f.properties) == 0
			return f.check(cmd.Context(), args[0], cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.model, "model", modelLock, "what the history is one of: "+strings.Join(models(), ", "))
	flags.StringVar(&f.initial, "initial", "nil", "what a register holds at first, as the history has it")
	flags.StringSliceVar(&f.properties, "property", nil, "judge these alone, comma-separated (default: all of the model)")
	formatFlag(cmd, &f.format)
	f.pages.flags(cmd)
	flags.StringVar(&f.html, "html", "", "draw the history into this file, as a page to be opened in a browser; of more than 200,000 events, what is wrong with it")
	flags.StringVar(&f.certificate, "certificate", "", "write what proves the verdicts into this file, for lockbench verify")
	flags.BoolVar(&f.thorough, "thorough", false, "judge exclusion by both engines throughout, and not by sample where a long history is quiet")
	flags.BoolVar(&f.lenient, "lenient", false, "leave out lines that are not sound, and say which")
	for name, values := range map[string]func() []string{"model": models, "property": properties} {
		// It fails only for a flag that does not exist.
		_ = cmd.RegisterFlagCompletionFunc(name, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return values(), cobra.ShellCompDirectiveNoFileComp
		})
	}
	return cmd
}

// oneFile is the argument of a command that reads a history.
func oneFile(cmd *cobra.Command, args []string) error {
	if len(args) == 1 {
		return nil
	}
	return usage(fmt.Errorf("%s needs one file or run directory, found %d (%[1]s --help)", cmd.CommandPath(), len(args)))
}

func models() []string {
	names := []string{modelLock}
	for _, m := range checker.Models() {
		names = append(names, string(m))
	}
	return names
}

func properties() []string {
	var names []string
	for _, p := range checker.Properties() {
		names = append(names, string(p))
	}
	return append(names, allExclusion)
}

func (f *checkFlags) validate(path string) error {
	model := checker.Model(f.model)
	if model == checker.Register || f.initial != "nil" {
		var err error
		if model, err = model.Initially(f.initial); err != nil {
			return fmt.Errorf("--initial %s: %w", f.initial, err)
		}
		f.model = string(model)
	}
	for _, check := range []error{oneOf("model", string(model.Family()), models()), oneOf("format", f.format, formats())} {
		if check != nil {
			return check
		}
	}
	if f.model != modelLock {
		if err := model.Valid(); err != nil {
			return err
		}
	}
	for _, p := range f.properties {
		if err := oneOf("property", p, properties()); err != nil {
			return err
		}
		if (p == string(checker.Linearizability)) != (f.model != modelLock) {
			return fmt.Errorf("model %s is not judged by %s", f.model, p)
		}
	}
	if f.html != "" {
		if path == histories.Stdin {
			return errors.New("--html reads the history a second time, and standard input can be read but once; keep it in a file")
		}
		if err := gate.CanWrite(f.html); err != nil {
			return err
		}
	}
	return errors.Join(f.certifiable(path), f.pages.validate())
}

func (f *checkFlags) check(ctx context.Context, path string, stdout, stderr io.Writer) error {
	defer debug.SetGCPercent(debug.SetGCPercent(thrift))
	j, err := f.judge(ctx, path, stderr)
	if err != nil {
		return err
	}
	c := f.checked(j)
	if err := f.tell(path, c, stdout); err != nil {
		return failure(err)
	}
	if len(c.Report.HarnessErrors) > 0 {
		return f.unjudged(path, j)
	}
	if err := f.certify(path, j.Meta, c.Report); err != nil {
		return err
	}
	return verdictOf(c.Report)
}

// judge reads and judges a history, and says as what if its calls have decided that.
func (f *checkFlags) judge(ctx context.Context, path string, stderr io.Writer) (harness.Judged, error) {
	var model checker.Model
	switch {
	case f.byCalls:
		model = harness.ByCalls
	case f.model != modelLock:
		model = checker.Model(f.model)
	}
	how := &readProgress{Teller: newProgress(stderr)}
	stop := ticking(how.tell)
	j, err := harness.JudgeFile(ctx, path, harness.Judging{
		Lenient: f.lenient, Model: model, Properties: f.chosen(), Thorough: f.thorough, Locks: libraries.Catalogue(), Watch: how.watch,
	})
	stop()
	how.End()
	switch {
	case ctx.Err() != nil:
		return j, failure(errors.New("interrupted before the history was judged"))
	case err != nil:
		return j, unreadable(err, f.lenient)
	}
	if err := unfit(path, j); err != nil {
		return j, usage(err)
	}
	if j.Unread != nil {
		fmt.Fprintf(stderr, "lockbench: judged without the commands beside %s, which cannot be read: %v\n", report.Harmless(path), j.Unread)
	}
	if f.byCalls && j.Model != "" {
		f.model = string(j.Model)
		fmt.Fprintf(stderr, "lockbench: %s is judged as model %s, by its calls; --model judges it as another lock, such as owner-mutex or semaphore:2\n",
			report.Harmless(path), j.Model)
	}
	return j, nil
}

// checked is what reports tell of a judgement.
func (f *checkFlags) checked(j harness.Judged) report.Check {
	c := report.Check{
		File: j.Path, Format: j.Format, Model: f.model, Run: j.Meta, Count: j.Count, Skipped: []string{}, Cited: j.Cited, Drawn: j.Drawn, Report: j.Report,
	}
	for _, s := range j.Skipped {
		c.Skipped = append(c.Skipped, s.Error())
	}
	if j.Cut() {
		c.Skipped = append(c.Skipped, fmt.Sprintf("%s is cut after %s", j.Path, words.Count(j.Count, "event")))
	}
	return c
}

// tell prints a judgement and writes its pages. It writes as many as it can.
func (f *checkFlags) tell(path string, c report.Check, stdout io.Writer) error {
	var err error
	if f.format == formatJSON {
		err = report.CheckJSON(stdout, c)
	} else {
		err = report.CheckText(stdout, c, styleOf(stdout))
	}
	return errors.Join(err, f.pages.write(
		func(w io.Writer) error { return report.CheckJUnit(w, c) },
		func(w io.Writer) error { return report.CheckMarkdown(w, c) },
	), f.page(path, c))
}

// unfit returns why what was read is no history, or none of the model that it was judged as.
func unfit(path string, j harness.Judged) error {
	if err := empty(j.File, j.Count); err != nil {
		return err
	}
	if j.Meta != nil { // lockbench has recorded it, whatever it is
		return nil
	}
	if err := j.Calls.Fit(j.Model); err != nil {
		return fmt.Errorf("%s cannot be judged: %w", path, err)
	}
	return nil
}

// chosen are the properties in the order of reports, each once; nil if none were chosen.
func (f *checkFlags) chosen() []checker.Property {
	var chosen []checker.Property
	for _, p := range checker.Properties() {
		if slices.Contains(f.properties, string(p)) || slices.Contains(f.properties, allExclusion) && p.Exclusion() {
			chosen = append(chosen, p)
		}
	}
	return chosen
}

// verdictOf is the exit code of a judgement.
func verdictOf(r checker.Report) error {
	switch {
	case len(r.HarnessErrors) > 0:
		return &exitError{code: exitHarness}
	case r.Verdict == checker.Pass:
		return nil
	case r.Verdict == checker.Fail:
		return &exitError{code: exitUnexpected}
	}
	return &exitError{code: exitUnknown}
}
