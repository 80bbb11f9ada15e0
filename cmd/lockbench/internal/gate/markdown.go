package gate

import (
	"fmt"
	"io"
	"strings"

	"github.com/lockbench/lockbench/internal/report"
)

// Markdown writes r for the summary page of a CI job: what did not come out as wanted first,
// then all scenarios.
func (r Results) Markdown(w io.Writer, known Baseline) error {
	var b strings.Builder
	mark := map[Outcome]string{Expected: report.MarkExpected, Unexpected: report.MarkUnexpected, Unknown: report.MarkUnknown, Failed: report.MarkError, NotApplicable: report.MarkUnfit}
	fmt.Fprintf(&b, "## %s lockbench gate\n\n%s\n\n**%s**\n", mark[r.Outcome(known)], report.Escape(r.title()), report.Escape(r.sentence(known)))
	if !r.Whole() {
		fmt.Fprintf(&b, "\nCut short after %d of %d runs.\n", len(r.Rows), r.Share)
	}
	if stood := r.Stalls.sentence(); stood != "" {
		fmt.Fprintf(&b, "\n%s\n", report.Escape(stood))
	}
	groups := r.groups(known)
	r.ownMarkdown(&b, known)
	for _, g := range groups {
		for _, p := range g.problems(known) {
			if r.Lock != "" && p.outcome == Unexpected {
				continue // its cause was told
			}
			row := p.first(known)
			fmt.Fprintf(&b, "\n### %s %s %s\n\n", mark[p.outcome], g.id, g.name)
			fmt.Fprintf(&b, "%s: %s", report.Code(p.who), report.Escape(report.Prose(what(row))))
			if often := p.often(); often != "" {
				b.WriteString(", " + often)
			}
			b.WriteString("\n")
			if s := story(row); s != "" {
				b.WriteString("\n> " + report.Escape(report.Prose(s)) + "\n")
			}
			if row.Command != "" {
				b.WriteString("\n" + report.Fence(row.Command))
			}
		}
	}
	r.exploredMarkdown(&b, known)
	if gone := known.Gone(r); len(gone) > 0 {
		b.WriteString("\n### In the baseline, and not found any more\n\n")
		for _, k := range gone {
			fmt.Fprintf(&b, "- %s %s, %s: %s %v\n", k.ID, k.Scenario, report.Code(who(k.Lock, k.Guard, k.Remedy)), k.Property, k.Got)
		}
	}
	b.WriteString("\n<details><summary>All scenarios</summary>\n\n| | pitfall | scenario | |\n|---|---|---|---|\n")
	for _, g := range groups {
		word, _ := g.word(known)
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", word, g.id, g.name, report.Escape(report.Prose(g.summary(known))))
	}
	for _, g := range groups {
		for _, gap := range g.gaps {
			if len(g.rows) > 0 {
				fmt.Fprintf(&b, "| gap | %s | %s | %s |\n", g.id, g.name, report.Escape(report.Prose(gap.who()+": "+gap.Reason)))
			}
		}
	}
	b.WriteString("\n</details>\n")
	_, err := io.WriteString(w, b.String())
	return err
}
