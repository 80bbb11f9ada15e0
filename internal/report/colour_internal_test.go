package report

import (
	"testing"

	"github.com/lockbench/lockbench/checker"
)

// TestColourOfWhatWasExpected: the word says what was found, and the colour whether that was expected.
func TestColourOfWhatWasExpected(t *testing.T) {
	const green, red, yellow = "\x1b[32m", "\x1b[1;31m", "\x1b[33m"
	for _, c := range []struct {
		verdict checker.Verdict
		met     bool
		want    string
	}{
		{checker.Fail, true, green},
		{checker.Fail, false, red},
		{checker.Pass, true, green},
		{checker.Pass, false, red},
		{checker.Unknown, true, yellow},
		{checker.Unknown, false, yellow},
		{checker.Disagreement, true, red},
		{checker.Disagreement, false, red},
	} {
		p := printer{style: Style{Colour: true}}
		if got, want := p.judgedWord(c.verdict, c.met), c.want+word(c.verdict)+"\x1b[0m"; got != want {
			t.Errorf("%v, met %t: %q, want %q", c.verdict, c.met, got, want)
		}
	}
}
