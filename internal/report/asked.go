package report

import (
	"fmt"
	"strings"

	"github.com/lockbench/lockbench/checker"
)

// asking is a property, what was found of it, and what had been expected.
type asking struct {
	checker.Result
	want *checker.Judged // nil: nothing in particular
	// excused says that it is broken, and that no lock of the class keeps it.
	excused bool
}

// asked are the properties of a run: those that were judged, and those that should have been.
func (r Run) asked() []asking {
	var all []asking
	judged := map[checker.Property]bool{}
	want := map[checker.Property]*checker.Judged{}
	for i, e := range r.Expected {
		want[e.Property] = &r.Expected[i]
	}
	for _, res := range r.Report.Results {
		judged[res.Property] = true
		all = append(all, asking{res, want[res.Property], r.excused(res.Property)})
	}
	for i, e := range r.Expected {
		if !judged[e.Property] {
			all = append(all, asking{Result: r.Report.Result(e.Property), want: &r.Expected[i]})
		}
	}
	return all
}

// verdict reports whether the property is as expected, in the words of JUnit's types.
func (a asking) verdict() string {
	switch {
	case a.Verdict == checker.Disagreement:
		return outcomeError
	case a.want == nil || a.want.Met:
		if a.Verdict == checker.NotApplicable {
			return outcomeSkipped
		}
		return outcomeExpected
	case a.Verdict == checker.Unknown:
		return outcomeUnknown
	}
	return outcomeUnexpected
}

// held is verdict if the property should hold.
func (a asking) held() string {
	want := checker.Judged{Want: checker.Pass, Met: a.Verdict == checker.Pass || a.Verdict == checker.NotApplicable}
	return asking{Result: a.Result, want: &want}.verdict()
}

// how says what was found and what had been expected.
func (a asking) how() string {
	got := word(a.Verdict)
	switch {
	case a.want == nil:
		return got
	case a.excused:
		return got + ", as with every other lock of its class"
	case a.want.Met:
		return got + ", as expected"
	}
	return fmt.Sprintf("%s, expected %s", got, word(a.want.Want))
}

// wanted is what had been expected, in a word; empty: nothing in particular.
func (a asking) wanted() string {
	if a.want == nil || a.want.Want == checker.NotApplicable {
		return ""
	}
	return word(a.want.Want)
}

// longestCopied is how much of a command or a path is shown.
const longestCopied = 4000

// toCopy is a command or a path, which is there to be copied.
func toCopy(s string) string { return brief(s, longestCopied) }

// inOne makes one line of an error that may have several.
func inOne(err string) string { return prose(strings.ReplaceAll(err, "\n", "; ")) }

// told is a result's story with the events that prove it. Of what is told elsewhere, vacuous,
// it says nothing.
func told(res checker.Result, vacuous []string) string {
	text := resultText(res, vacuous)
	if len(res.Witness) > 0 {
		text += " [events " + join(res.Witness) + "]"
	}
	return text
}

// who is a run's lock, and its guard if it has one.
func (r Run) who() string {
	if r.Guard == "" || r.Guard == "none" {
		return r.Lock
	}
	return r.Language.Sayf("%s with guard %s", r.Lock, r.Guard)
}
