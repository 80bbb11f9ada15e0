package report

import (
	"strings"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/language"
)

// sentence says what was found and whether that was expected.
func sentence(r Run) string {
	in := r.Language
	var failed []string
	for _, res := range r.Report.Results {
		if res.Verdict == checker.Fail {
			failed = append(failed, in.Say(label(res.Property)))
		}
	}
	what := in.Say("nothing can be said")
	switch r.Report.Verdict {
	case checker.Fail:
		what = in.Sayf("%s violated", in.And(failed))
	case checker.Pass:
		what = in.Say("all properties hold")
	}
	switch r.Outcome {
	case checker.AsExpected:
		if r.Judgement.Peers != nil {
			return in.Sayf("%s; none of that is the lock's own fault.", what)
		}
		return in.Sayf("%s, as expected.", what)
	case checker.Unexpected:
		text := in.Sayf("%s, NOT as expected: %s.", what, surprise(r.Expected, in.And(failed), in))
		if wanted, shown := r.Reproduced(); wanted && !shown {
			text += in.Say(" What was to break was not reproduced.")
		}
		return text
	}
	if judged := r.Report.Verdict == checker.Fail || r.Report.Verdict == checker.Pass; judged && len(r.Expected) == 0 {
		return in.Sayf("%s; nothing was expected of the run.", what)
	}
	return in.Sayf("%s; the run is not conclusive.", what)
}

// surprise says what came out otherwise than expected. It does not repeat the properties
// that are named already.
func surprise(judged []checker.Judged, named string, in language.Language) string {
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
		changed[c] = append(changed[c], in.Say(label(e.Property)))
	}
	var parts []string
	for _, c := range order {
		part := in.Sayf("%s instead of %s", in.Say(c.got.String()), in.Say(c.want.String()))
		if who := in.And(changed[c]); who != named {
			parts = append(parts, in.Sayf("%s came out as %s", who, part))
		} else {
			parts = append([]string{part}, parts...) // it follows their names
		}
	}
	if len(parts) == 0 {
		return in.Say("a violation was wanted")
	}
	return strings.Join(parts, in.Say("; "))
}

// and joins words as an English sentence does.
func and(words []string) string { return language.Language{}.And(words) }
