package report

import (
	"fmt"
	"strings"

	"github.com/lockbench/lockbench/checker"
)

// sentence says what was found and whether that was expected.
func sentence(r Run) string {
	var failed []string
	for _, res := range r.Report.Results {
		if res.Verdict == checker.Fail {
			failed = append(failed, label(res.Property))
		}
	}
	what := "nothing can be said"
	switch r.Report.Verdict {
	case checker.Fail:
		what = and(failed) + " violated"
	case checker.Pass:
		what = "all properties hold"
	}
	switch r.Outcome {
	case checker.AsExpected:
		if r.Judgement.Peers != nil {
			return what + "; none of that is the lock's own fault."
		}
		return what + ", as expected."
	case checker.Unexpected:
		text := what + ", NOT as expected: " + surprise(r.Expected, and(failed)) + "."
		if wanted, shown := r.Reproduced(); wanted && !shown {
			text += " What was to break was not reproduced."
		}
		return text
	}
	if judged := r.Report.Verdict == checker.Fail || r.Report.Verdict == checker.Pass; judged && len(r.Expected) == 0 {
		return what + "; nothing was expected of the run."
	}
	return what + "; the run is not conclusive."
}

// surprise says what came out otherwise than expected. It does not repeat the properties
// that are named already.
func surprise(judged []checker.Judged, named string) string {
	type change struct{ got, want checker.Verdict }
	var order []change
	changed := map[change][]string{}
	for _, e := range judged {
		if e.Met {
			continue
		}
		c := change{e.Got, e.Want}
		if changed[c] == nil {
			order = append(order, c)
		}
		changed[c] = append(changed[c], label(e.Property))
	}
	var parts []string
	for _, c := range order {
		part := fmt.Sprintf("%s instead of %s", c.got, c.want)
		if who := and(changed[c]); who != named {
			parts = append(parts, who+" came out as "+part)
		} else {
			parts = append([]string{part}, parts...) // it follows their names
		}
	}
	if len(parts) == 0 {
		return "a violation was wanted"
	}
	return strings.Join(parts, "; ")
}

// and joins words as a sentence does.
func and(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " and " + words[last]
}
