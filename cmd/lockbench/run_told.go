package main

import (
	"context"
	"fmt"
	"io"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/report"
)

// runsTold tells what came of the runs of one command. One run is told in full. Of several each
// gets a line, and the first that did not come out as expected is told in full.
type runsTold struct {
	flags       *runFlags
	stdout, log io.Writer
	style       report.Style

	worst    checker.Outcome
	count    map[checker.Outcome]int
	runs     int
	wanted   int          // runs in which something was to break
	shown    int          // of those, in which it did
	inFull   bool         // whether one of several was told so
	undrawn  bool         // whether a page could not be drawn
	drawings []report.Run // of which files are to be written
}

// one tells of a run that came to its end.
func (t *runsTold) one(ctx context.Context, res harness.Result) error {
	t.runs++
	t.count[res.Outcome]++
	t.worst = t.worst.Or(res.Outcome)
	drawn := draw(res)
	if own := t.flags.own; own != nil && drawn.Dir != "" { // for the page
		withSchedule(ctx, &drawn, *own, res)
		if err := keepSchedule(drawn); err != nil {
			fmt.Fprintln(t.log, "lockbench: the schedule was not kept beside the history: "+err.Error())
			t.undrawn = true
		}
	}
	if wanted, shown := drawn.Reproduced(); wanted {
		t.wanted++
		if shown {
			t.shown++
		}
	}
	if err := keepPage(&drawn, t.flags.lang.Language); err != nil {
		fmt.Fprintln(t.log, "lockbench: "+err.Error())
		t.undrawn = true
	}
	t.drawings = t.flags.pages.keep(t.drawings, drawn)
	switch {
	case t.flags.format == formatJSON:
		return t.flags.json(t.stdout, drawn)
	case t.flags.runs > 1 && t.style.Volume == report.Terse:
		return nil
	case t.flags.runs == 1 || t.style.Volume == report.Full || res.Outcome != checker.AsExpected && !t.inFull:
		t.inFull = true
		return report.Text(t.stdout, drawn, t.style)
	}
	return report.Line(t.stdout, drawn, t.style)
}

// broken tells of a run that the harness could not finish.
func (t *runsTold) broken(res harness.Result, err error) error {
	if res.Dir != "" {
		err = fmt.Errorf("%w\nwhat was recorded is kept in %s", err, res.Dir)
	}
	drawn := draw(res)
	return t.failed(drawn, keepFailed(&drawn, err, t.flags.lang.Language))
}

// failed tells of a run that did not come to its end.
func (t *runsTold) failed(r report.Run, err error) error {
	return t.flags.failed(r, err, t.drawings, t.stdout)
}

// end tells what came of all runs, and says how the program ends.
func (t *runsTold) end() error {
	if t.flags.runs > 1 && t.flags.format == formatText {
		made := fmt.Sprintf("%d runs", t.runs)
		if t.runs < t.flags.runs {
			made = fmt.Sprintf("%d of %d runs, ended by --fail-fast", t.runs, t.flags.runs)
		}
		reproduced := ""
		if t.wanted > 0 {
			reproduced = fmt.Sprintf("; reproduced %d of %d", t.shown, t.wanted)
		}
		if _, err := fmt.Fprintf(t.stdout, "%s: %d as expected, %d not, %d unknown%s\n",
			made, t.count[checker.AsExpected], t.count[checker.Unexpected], t.count[checker.Undecided], reproduced); err != nil {
			return failure(err)
		}
	}
	if err := t.flags.pages.runs(t.drawings); err != nil {
		return failure(err)
	}
	switch t.worst {
	case checker.AsExpected:
		if t.undrawn { // it was told; a verdict that is bad says more
			return &exitError{code: exitHarness}
		}
		return nil
	case checker.Unexpected:
		return &exitError{code: exitUnexpected}
	default:
		return &exitError{code: exitUnknown}
	}
}
