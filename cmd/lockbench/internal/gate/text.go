package gate

import (
	"fmt"
	"io"
	"slices"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/report"
	"github.com/lockbench/lockbench/internal/words"
)

// word is what a table says of a scenario.
func (g *group) word(known Baseline) (string, report.Tone) {
	switch g.outcome {
	case Expected:
		if slices.ContainsFunc(g.rows, known.knows) {
			return "known", report.Doubtful
		}
		return "ok", report.Good
	case Unavoidable:
		return "class", report.Quiet
	case Unexpected:
		return "FAIL", report.Bad
	case Unknown:
		return "unknown", report.Doubtful
	case Failed:
		return "ERROR", report.Bad
	}
	for _, gap := range g.gaps {
		if !gap.NotApplicable {
			return "gap", report.Quiet
		}
	}
	return "n/a", report.Quiet
}

// Text writes r for people.
func (r Results) Text(w io.Writer, known Baseline, style report.Style) error {
	page := report.NewPage(style)
	page.Para("lockbench gate  ", r.title(), report.Strong)
	page.Line()
	if r.Lock != "" {
		r.ownText(page, known)
	} else {
		r.catalogueText(page, known)
	}
	if page.Full() {
		r.runsText(page, known)
	}
	r.exploredText(page, known)
	r.gone(page, known)
	if stood := r.Stalls.sentence(); stood != "" {
		page.Para("", stood, report.Doubtful)
	}
	page.Para("", r.sentence(known)+" · "+words.Count(len(r.Rows), "run")+r.in(), report.Plain)
	page.Conclude(r.verdict(known))
	_, err := page.WriteTo(w)
	return err
}

// catalogueText tells a line for each scenario, then what did not come out as wanted.
func (r Results) catalogueText(page *report.Page, known Baseline) {
	groups := r.groups(known)
	longest := 0
	for _, g := range groups {
		longest = max(longest, len(g.name))
	}
	for _, g := range groups {
		word, tone := g.word(known)
		quiet := report.Plain
		if tone == report.Quiet {
			quiet = report.Quiet
		}
		page.Para(" "+page.Cell(word, 7, tone)+"  "+page.Cell(g.id, 3, quiet)+"  "+page.Cell(g.name, longest, quiet)+"  ", g.summary(known), quiet)
	}
	for _, g := range groups {
		for _, p := range g.problems(known) {
			page.Line()
			p.text(page, known)
		}
	}
	r.partly(page, groups)
	page.Line()
}

// text tells a problem, and how to see it.
func (p problem) text(page *report.Page, known Baseline) {
	word, tone := (&group{outcome: p.outcome}).word(known)
	row := p.first(known)
	text := p.scenario + ", " + p.who
	if often := p.often(); often != "" {
		text += ", " + often
	}
	page.Para(" "+page.Cell(word, 7, tone)+"  "+page.Cell(p.id, 3, report.Plain)+"  ", text+": "+what(row), report.Strong)
	const indent = "              "
	if s := story(row); s != "" {
		page.Para(indent, s, report.Plain)
	}
	if row.Command != "" {
		page.Line(indent, page.Cell(row.Command, 0, report.Plain)) // to be copied, however long
	}
}

// partly tells what is missing of scenarios that were played.
func (r Results) partly(page *report.Page, groups []*group) {
	told := false
	for _, g := range groups {
		for _, gap := range g.gaps {
			if len(g.rows) == 0 {
				continue
			}
			if !told {
				page.Line()
				page.Line("Not played, and not counted as passed:")
				told = true
			}
			page.Para(" "+page.Cell(g.id, 5, report.Plain), g.name+", "+gap.who()+": "+gap.Reason, report.Plain)
		}
	}
}

// gone tells what the baseline knows and nobody found.
func (r Results) gone(page *report.Page, known Baseline) {
	gone := known.Gone(r)
	if len(gone) == 0 {
		return
	}
	page.Line("In the baseline, and not found any more (--update-baseline removes it):")
	for _, k := range gone {
		page.Para(" "+page.Cell(k.ID, 5, report.Plain), fmt.Sprintf("%s, %s: %s %v", k.Scenario, who(k.Lock, k.Guard, k.Remedy), report.Label(k.Property), k.Got), report.Plain)
	}
	page.Line()
}

// verdict is what the exit code says.
func (r Results) verdict(known Baseline) string {
	if !r.Whole() {
		return fmt.Sprintf("none, as it was cut short after %d of %s.", len(r.Rows), words.Count(r.Share, "run"))
	}
	switch r.Outcome(known) {
	case Expected:
		switch {
		case r.Lock != "" && (slices.ContainsFunc(r.Rows, known.knows) || len(r.accepts(known)) > 0):
			return "the lock keeps what a lock of its class can keep, save what is known."
		case r.Lock != "":
			return "the lock keeps what a lock of its class can keep."
		}
		return "everything came out as expected."
	case Unexpected:
		if r.Lock != "" {
			return "the lock breaks what other locks of its class keep."
		}
		return "not as expected."
	case Failed:
		return "none, since lockbench or something that it needs failed."
	case NotApplicable:
		return "none, as nothing of it applies."
	}
	return "unknown, which is no pass."
}

// in is how long the gate took. In virtual time the same seeds give the same text, so it is
// left out there.
func (r Results) in() string {
	if histories.VirtualTime(r.Backend) {
		return ""
	}
	return " in " + words.Rounded(r.Took)
}
