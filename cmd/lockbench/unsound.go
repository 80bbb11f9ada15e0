package main

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/harness"
)

// noHistory reports whether not even the first line of a file is an event.
func noHistory(e *histories.LineError) bool { return e.Line == 1 && e.Sound == 0 }

// unreadable returns why a history could not be read, and what can be done. What is wrong in the file
// is no failure of lockbench.
func unreadable(err error, lenient bool) error {
	line, told := errors.AsType[*histories.LineError](err)
	call, ofCall := errors.AsType[*histories.CallError](err)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return usage(err)
	case !histories.Unsound(err):
		return failure(err)
	case told && noHistory(line):
		return usage(fmt.Errorf("%s is no history: %w", line.File, err))
	case (told || ofCall && call.Line > 1) && !lenient:
		return usage(fmt.Errorf("%w; --lenient skips such lines", err))
	}
	return usage(err)
}

// empty returns why a file without events is no history. One that lockbench recorded may have none.
func empty(file histories.File, events int) error {
	switch {
	case events > 0:
		return nil
	case len(file.Skipped) > 0 || file.Format == histories.JepsenLog:
		return fmt.Errorf("%s is no history: none of its lines is an event", file.Path)
	case file.Meta == nil:
		return fmt.Errorf("%s is no history: it has no events", file.Path)
	}
	return nil
}

// unjudged is the end of a check that found a history that cannot be judged. The report, which has
// been printed, says why. It is a failure of lockbench if lockbench has recorded the history, if
// two judges contradict each other, or if one panicked.
func (f *checkFlags) unjudged(path string, j harness.Judged) error {
	if j.Meta != nil || j.Report.Verdict == checker.Disagreement || j.Report.Panicked {
		return &exitError{code: exitHarness}
	}
	if j.Model == "" {
		if breach := j.Breach(f.lenient); breach != nil {
			return &exitError{code: exitUsage, told: true, err: fmt.Errorf("%w; the history breaks the rules of histories there", breach)}
		}
	}
	return &exitError{code: exitUsage} // the report names the events
}
