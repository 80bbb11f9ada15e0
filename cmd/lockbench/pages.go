package main

import (
	"bytes"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/lockbench/lockbench/cmd/lockbench/internal/gate"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/report"
	"github.com/lockbench/lockbench/internal/resource"
)

// pages are the files that CI systems read. An empty name is no file.
type pages struct{ junit, markdown string }

func (p *pages) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&p.junit, "junit", "", "write the results into this file as JUnit's XML")
	cmd.Flags().StringVar(&p.markdown, "markdown", "", "write a summary in Markdown, fit for the page of a CI job")
}

// validate finds out what would otherwise fail at the very end.
func (p *pages) validate() error {
	for _, file := range []string{p.junit, p.markdown} {
		if file == "" {
			continue
		}
		if err := gate.CanWrite(file); err != nil {
			return err
		}
	}
	return nil
}

// write draws what is wanted, each file whole or not at all.
func (p *pages) write(junit, markdown func(io.Writer) error) error {
	one := func(file string, draw func(io.Writer) error) error {
		if file == "" {
			return nil
		}
		var b bytes.Buffer
		if err := draw(&b); err != nil {
			return err
		}
		return gate.WriteFile(file, b.Bytes())
	}
	return errors.Join(one(p.junit, junit), one(p.markdown, markdown))
}

// runs writes the pages of runs.
func (p *pages) runs(all []report.Run) error {
	return p.write(
		func(w io.Writer) error { return report.JUnit(w, all) },
		func(w io.Writer) error { return report.Markdown(w, all) },
	)
}

// keep keeps of a run what the pages tell, if there are any: of many runs all events would be
// too much.
func (p *pages) keep(all []report.Run, r report.Run) []report.Run {
	if *p == (pages{}) {
		return nil
	}
	r.Events, r.Exchanges, r.Samples = nil, nil, nil
	return append(all, r)
}

// json writes a run: indented, or on a line of its own if it is one of several.
func (f *runFlags) json(stdout io.Writer, r report.Run) error {
	if f.runs > 1 {
		return report.JSONLine(stdout, r)
	}
	return report.JSON(stdout, r)
}

// failed tells of a run that the harness could not finish, after those before it.
func (f *runFlags) failed(r report.Run, err error, before []report.Run, stdout io.Writer) error {
	r.Error, r.Unfit = err.Error(), harness.NotApplicable(err)
	code := exitHarness
	switch {
	case r.Unfit:
		code = exitUnfit
	case f.strange(err):
		code = exitUnknown
	}
	exit := &exitError{code: code, err: errors.Join(err, f.pages.runs(f.pages.keep(before, r)))}
	if f.format == formatJSON {
		exit.told = f.json(stdout, r) == nil
	}
	return exit
}

// strange reports whether err is that a step could not be played with a lock that the steps were not written for.
// Nothing is known of the lock then, as the gate says, too.
func (f *runFlags) strange(err error) bool {
	return harness.Unplayed(err) && f.scenario != "" && f.stranger()
}

// stranger reports whether the steps of the scenario were not written for the lock.
func (f *runFlags) stranger() bool {
	s, unknown := scenarioNamed(f.scenario)
	if unknown == nil {
		s, unknown = s.With(f.remedy)
	}
	guard, wrong := resource.FindGuard(f.guard)
	own := f.worker != "" && f.worker != workerSelf && f.worker != workerNone
	return unknown == nil && wrong == nil && (own || !s.Names(f.lock, guard))
}

// unbegun is a run that was not begun. Its schema is 0, as nothing describes it.
func (f *runFlags) unbegun(seed uint64) report.Run {
	return report.Run{Meta: histories.Meta{
		Scenario: f.scenario + f.workload, Lock: f.lock, Guard: f.guard, Backend: f.backend, Seed: seed,
	}}
}

// draw is a result as the report room takes it.
func draw(res harness.Result) report.Run {
	return report.Run{
		Meta: res.Meta, Judgement: res.Judgement, Dir: res.Dir, Events: res.Events, Exchanges: res.Exchanges, Samples: res.Samples,
	}
}
