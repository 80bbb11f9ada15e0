package main

import (
	"errors"
	"io"
	"path/filepath"
	"testing"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/harness"
)

// TestUnjudged checks who is at fault if a history cannot be judged.
func TestUnjudged(t *testing.T) {
	for name, test := range map[string]struct {
		j    harness.Judged
		want int
	}{
		"a history of others":   {harness.Judged{}, exitUsage},
		"of another model":      {harness.Judged{Model: checker.Mutex}, exitUsage},
		"our own":               {harness.Judged{File: histories.File{Meta: &histories.Meta{}}}, exitHarness},
		"judges that disagree":  {harness.Judged{Report: checker.Report{Verdict: checker.Disagreement}}, exitHarness},
		"a judge that panicked": {harness.Judged{Report: checker.Report{Panicked: true}}, exitHarness},
	} {
		var exit *exitError
		if err := new(checkFlags).unjudged(filepath.Join(t.TempDir(), "h"), test.j); !errors.As(err, &exit) || exit.code != test.want {
			t.Errorf("%s: %v, want exit code %d", name, err, test.want)
		}
	}
}

// TestUnreadable checks that a file that cannot be read is not taken for a bad one.
func TestUnreadable(t *testing.T) {
	for _, test := range []struct {
		err  error
		want int
	}{
		{io.ErrClosedPipe, exitHarness},
		{&histories.LineError{File: "h", Line: 1, Err: io.ErrUnexpectedEOF}, exitUsage},
		{&histories.LineError{File: "h", Line: 7, Sound: 6, Err: histories.ErrTruncated}, exitUsage},
		{&histories.CallError{File: "h", Line: 7, Column: 1, Err: io.ErrUnexpectedEOF}, exitUsage},
		{&histories.MetaError{File: "h", Err: io.ErrUnexpectedEOF}, exitUsage},
	} {
		for _, lenient := range []bool{false, true} {
			var exit *exitError
			if err := unreadable(test.err, lenient); !errors.As(err, &exit) || exit.code != test.want {
				t.Errorf("%v: %v, want exit code %d", test.err, err, test.want)
			}
		}
	}
}
