package gate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/report"
	"github.com/lockbench/lockbench/internal/words"
)

// problem is a case that did not come out as wanted, in some of its runs.
type problem struct {
	id, scenario, who string
	role              Role
	outcome           Outcome
	rows              []Row // that did not, the first seed first
	runs              int   // of the case
}

// problems are those of a scenario that the baseline does not know.
func (g *group) problems(known Baseline) []problem {
	var all []problem
	runs := map[string]int{}
	for _, row := range g.rows {
		runs[row.who()]++
		outcome := known.outcome(row)
		if outcome == Expected || outcome == Unavoidable || outcome == NotApplicable {
			continue
		}
		i := slices.IndexFunc(all, func(p problem) bool { return p.who == row.who() })
		if i < 0 {
			i = len(all)
			all = append(all, problem{id: row.ID, scenario: row.Scenario, who: row.who(), role: row.Role, outcome: NotApplicable})
		}
		all[i].outcome = worse(all[i].outcome, outcome)
		all[i].rows = append(all[i].rows, row)
	}
	for i := range all {
		all[i].runs = runs[all[i].who]
	}
	return all
}

// first is the run to show: the first that is as bad as the worst.
func (p problem) first(known Baseline) Row {
	for _, row := range p.rows {
		if known.outcome(row) == p.outcome {
			return row
		}
	}
	return p.rows[0]
}

// what says what came out otherwise than was wanted.
func what(row Row) string {
	if row.Reason != "" {
		return firstLine(row.Reason)
	}
	var accused, missed, unsaid []string
	for _, f := range row.Findings() {
		name := report.Label(f.Property)
		switch {
		case f.Got == checker.Fail:
			accused = append(accused, name)
		case f.Got == checker.Unknown || f.Got == checker.Disagreement:
			unsaid = append(unsaid, name)
		case f.Want == checker.Fail:
			missed = append(missed, name)
		default: // such as unknown that became pass
			missed = append(missed, fmt.Sprintf("%s (%v, want %v)", name, f.Got, f.Want))
		}
	}
	var parts []string
	if len(missed) > 0 {
		parts = append(parts, "not caught: "+strings.Join(missed, ", "))
	}
	if len(accused) > 0 {
		parts = append(parts, "violated: "+strings.Join(accused, ", "))
	}
	if len(unsaid) > 0 {
		parts = append(parts, "unknown: "+strings.Join(unsaid, ", "))
	}
	return strings.Join(parts, "; ")
}

// brief is what, in a few words.
func brief(row Row) string {
	if row.Reason != "" {
		return firstLine(row.Reason)
	}
	var names []string
	for _, f := range row.Findings() {
		name := report.Label(f.Property)
		if f.Got != checker.Fail {
			name += " " + f.Got.String()
		}
		names = append(names, name)
	}
	return some(names, 2)
}

// firstLine is what an error with many causes names first.
func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// story is why, of the worst of a run's findings.
func story(row Row) string {
	told := ""
	for _, f := range row.Findings() {
		if f.Got == checker.Fail {
			return f.Story
		}
		if told == "" {
			told = f.Story
		}
	}
	return told
}

// often says in how many of its runs a case has the problem, if there are several.
func (p problem) often() string {
	if p.runs < 2 {
		return ""
	}
	return fmt.Sprintf("%d of %d seeds", len(p.rows), p.runs)
}

// summary is one line about a scenario.
func (g *group) summary(known Baseline) string {
	if len(g.rows) == 0 {
		return gapReason(g.gaps)
	}
	if g.rows[0].Role == Own {
		return g.ownSummary(known)
	}
	var parts []string
	held, others := 0, 0
	seen := map[string]bool{}
	for _, row := range g.rows {
		name := row.who()
		if seen[name] || row.Outcome != Expected {
			continue
		}
		seen[name] = true
		switch row.Role {
		case Broken:
			parts = append(parts, name+": "+some(labels(row.Violated()), 1))
		case Twin:
			held++
		default:
			others++
		}
	}
	if others > 0 {
		parts = append(parts, fmt.Sprintf("%d more break", others))
	}
	if held > 0 {
		parts = append(parts, fmt.Sprintf("%d held", held))
	}
	if len(g.problems(known)) > 0 {
		parts = append(parts, "not as expected")
	}
	return strings.Join(parts, " · ")
}

// ownSummary is one line about the user's lock.
func (g *group) ownSummary(known Baseline) string {
	if g.outcome == NotApplicable {
		return g.rows[0].Reason
	}
	var parts []string
	for _, p := range g.problems(known) {
		text := brief(p.first(known))
		if often := p.often(); often != "" {
			text += " (" + often + ")"
		}
		parts = append(parts, text)
	}
	accepted := map[string]bool{}
	var unavoidable, survivors []string
	for _, row := range g.rows {
		if known.knows(row) {
			accepted[brief(row)] = true
		}
		unavoidable = append(unavoidable, properties(row.Unavoidable())...)
		for _, s := range row.Survivors {
			survivors = append(survivors, who(s.Lock, s.Guard, s.Remedy))
		}
	}
	for text := range accepted {
		parts = append(parts, "known: "+text)
	}
	slices.Sort(parts)
	if len(unavoidable) > 0 {
		text := "no lock of its class keeps " + strings.Join(unique(unavoidable), ", ")
		if len(survivors) > 0 {
			text += "; what does: " + strings.Join(unique(survivors), ", ")
		}
		parts = append(parts, text)
	}
	if len(parts) == 0 {
		return "held"
	}
	return strings.Join(parts, " · ")
}

// unique are words, each once, in the order in which they came first.
func unique(words []string) []string {
	var all []string
	for _, w := range words {
		if !slices.Contains(all, w) {
			all = append(all, w)
		}
	}
	return all
}

// gapReason is why a scenario was not played at all.
func gapReason(gaps []Gap) string {
	var all []string
	for _, g := range gaps {
		if !slices.Contains(all, g.Reason) {
			all = append(all, g.Reason)
		}
	}
	return strings.Join(all, "; ")
}

func labels(properties []checker.Property) []string {
	var all []string
	for _, p := range properties {
		all = append(all, report.Label(p))
	}
	return all
}

// some joins the first few words, and says how many more there are.
func some(words []string, most int) string {
	if len(words) <= most {
		return strings.Join(words, ", ")
	}
	return fmt.Sprintf("%s +%d", strings.Join(words[:most], ", "), len(words)-most)
}

// tally counts scenarios and runs.
type tally struct {
	expected, unexpected, unknown, failed int // scenarios
	notApplicable, gaps                   int // scenarios of which nothing was played
	partly                                int // scenarios of which some cases were not played
	known                                 int // scenarios with known findings and no others
	unavoidable                           int // scenarios in which no lock of the class does better
}

func (r Results) tally(known Baseline) tally {
	var t tally
	for _, g := range r.groups(known) {
		switch g.outcome {
		case Expected:
			if slices.ContainsFunc(g.rows, known.knows) {
				t.known++
			} else {
				t.expected++
			}
		case Unavoidable:
			t.unavoidable++
		case Unexpected:
			t.unexpected++
		case Unknown:
			t.unknown++
		case Failed:
			t.failed++
		default:
			if len(g.rows) == 0 && !slices.ContainsFunc(g.gaps, func(g Gap) bool { return g.NotApplicable }) {
				t.gaps++
			} else {
				t.notApplicable++
			}
		}
		if len(g.rows) > 0 && len(g.gaps) > 0 {
			t.partly++
		}
	}
	return t
}

// sentence is the gate in one line.
func (r Results) sentence(known Baseline) string {
	t := r.tally(known)
	verb := "as expected"
	if r.Lock != "" {
		verb = "held"
	}
	played := t.expected + t.known + t.unavoidable + t.unexpected + t.unknown + t.failed
	parts := []string{fmt.Sprintf("%d of %s %s", t.expected, words.Count(played, "scenario"), verb)}
	for _, part := range []struct {
		n    int
		text string
	}{
		{t.known, "with known findings"},
		{t.unavoidable, "that no lock of its class survives"},
		{t.unexpected, "not"},
		{t.unknown, "unknown"},
		{t.failed, "not played to the end"},
		{t.notApplicable, "not applicable"},
		{t.gaps, "that this backend cannot play"},
		{t.partly, "played in part"},
	} {
		if part.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", part.n, part.text))
		}
	}
	return strings.Join(parts, " · ")
}
