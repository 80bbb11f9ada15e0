package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/words"
)

// Escape makes text that may come from outside harmless in Markdown, also inside of a table:
// one line, not too long, in which nothing is markup.
func Escape(text string) string {
	text = strings.Join(strings.Fields(cut(text, longestProse)), " ")
	return strings.NewReplacer(
		`\`, `\\`, "|", `\|`, "<", "&lt;", ">", "&gt;", "&", "&amp;", "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "#", `\#`, "~", `\~`,
	).Replace(text)
}

// Prose makes sentences that quote strings from outside harmless, one line, and not too long.
func Prose(text string) string { return prose(text) }

// Code is text as code, in one line, also inside of a table: between as many backticks as it
// needs. Renderers do not agree on what a backslash before a pipe means there, so that text
// with pipes is code by its tag.
func Code(text string) string {
	text = strings.Join(strings.Fields(cut(text, longestCopied)), " ")
	if text == "" || strings.Contains(text, "|") {
		return "<code>" + Escape(text) + "</code>"
	}
	marks := "`"
	for strings.Contains(text, marks) {
		marks += "`"
	}
	if marks == "`" {
		return marks + text + marks
	}
	return marks + " " + text + " " + marks
}

// Fence is a block of commands, one per line.
func Fence(commands ...string) string {
	var b strings.Builder
	marks := "```"
	for _, c := range commands {
		b.WriteString(toCopy(c) + "\n")
		for strings.Contains(c, marks) {
			marks += "`"
		}
	}
	return marks + "sh\n" + b.String() + marks + "\n"
}

// The marks of outcomes in Markdown.
const (
	MarkExpected   = "✅"
	MarkUnexpected = "❌"
	MarkUnknown    = "❔"
	MarkError      = "💥"
	MarkUnfit      = "➖"
)

func (r Run) mark() string {
	switch {
	case r.Unfit:
		return MarkUnfit
	case r.Error != "":
		return MarkError
	case r.Outcome == checker.AsExpected:
		return MarkExpected
	case r.Outcome == checker.Unexpected:
		return MarkUnexpected
	}
	return MarkUnknown
}

// Markdown writes runs as a summary for the page of a CI job or a comment. Of several it lists
// each, and tells the first that is not as expected in full.
func Markdown(w io.Writer, runs []Run) error {
	var b strings.Builder
	switch len(runs) {
	case 0:
		return nil
	case 1:
		runs[0].markdown(&b)
	default:
		several(&b, runs)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// mostListed is how many runs a summary lists.
const mostListed = 100

func several(b *strings.Builder, runs []Run) {
	worst := 0
	order := []string{MarkUnfit, MarkExpected, MarkUnknown, MarkUnexpected, MarkError}
	n := map[string]int{}
	first := -1
	for i, r := range runs {
		n[r.mark()]++
		for rank, m := range order {
			if m == r.mark() {
				worst = max(worst, rank)
			}
		}
		if first < 0 && r.mark() != MarkExpected {
			first = i
		}
	}
	fmt.Fprintf(b, "## %s %s\n\n%s\n\n**%s: %d as expected, %d not, %d unknown", order[worst], runs[0].heading(), Escape(runs[0].about(false)),
		words.Count(len(runs), "run"), n[MarkExpected], n[MarkUnexpected], n[MarkUnknown])
	if ended := n[MarkError] + n[MarkUnfit]; ended > 0 {
		fmt.Fprintf(b, ", %d not played to the end", ended)
	}
	b.WriteString("**\n\n| | seed | what was found |\n|---|---|---|\n")
	for i, r := range runs {
		if i == mostListed {
			fmt.Fprintf(b, "| | … | and %d more |\n", len(runs)-mostListed)
			break
		}
		text := sentence(r)
		if r.Error != "" {
			text = inOne(r.Error)
		}
		fmt.Fprintf(b, "| %s | %d | %s |\n", r.mark(), r.Seed, Escape(text))
	}
	if first >= 0 {
		b.WriteString("\n")
		runs[first].markdown(b)
	}
}

func (r Run) heading() string {
	text := Escape(show(r.Scenario))
	if r.Pitfall != "" {
		text += " (" + Escape(show(r.Pitfall)) + ")"
	}
	return text
}

// about says what was run.
func (r Run) about(seed bool) string {
	parts := []string{"lock " + r.Lock, "guard " + r.Guard, r.where()}
	if seed {
		parts = append(parts, fmt.Sprintf("seed %d", r.Seed))
	}
	if r.Topology != "" {
		parts = append(parts, r.Topology)
	}
	return prose(strings.Join(parts, " · ") + load(r))
}

func (r Run) markdown(b *strings.Builder) {
	fmt.Fprintf(b, "## %s %s\n\n%s\n\n", r.mark(), r.heading(), Escape(r.about(true)))
	switch {
	case r.Unfit:
		fmt.Fprintf(b, "**not applicable:** %s\n", Escape(inOne(r.Error)))
	case r.Error != "":
		fmt.Fprintf(b, "**lockbench, or something that it needs, failed:** %s\n", Escape(inOne(r.Error)))
	}
	asked := r.asked()
	if r.Error == "" || len(asked) > 0 {
		fmt.Fprintf(b, "**%s**\n", Escape(sentence(r)))
	}
	if len(asked) > 0 {
		b.WriteString("\n| property | verdict | expected | why |\n|---|---|---|---|\n")
	}
	for _, a := range asked {
		verdict := word(a.Verdict)
		if a.want != nil && !a.want.Met {
			verdict = "**" + verdict + "**"
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s |\n", Escape(label(a.Property)), verdict, a.wanted(), Escape(told(a.Result, r.Report.Vacuous)))
	}
	doubts(b, r.Report)
	failed := broken(r)
	for _, c := range Causes(r) {
		fmt.Fprintf(b, "\n**Cause:** %s\n", Escape(CauseText(c)))
	}
	for _, text := range Peers(r) {
		fmt.Fprintf(b, "\n%s\n", Escape(text))
	}
	if r.Why != "" && failed {
		fmt.Fprintf(b, "\n> %s: %s\n", Escape(WhyHead(r)), Escape(prose(r.Why)))
	}
	if r.Note != "" {
		fmt.Fprintf(b, "\n> %s: %s\n", Escape(r.who()), Escape(prose(r.Note)))
	}
	if failed && len(r.Survivors) > 0 {
		b.WriteString("\nSurvives the same steps:\n\n" + Fence(r.Survivors...))
	}
	if r.Command != "" {
		b.WriteString("\nReplay:\n\n" + Fence(r.Command))
	}
	if r.Dir != "" {
		fmt.Fprintf(b, "\nHistory: %s\n", Code(toCopy(r.Dir)))
	}
}

// doubts tell what concerns all properties.
func doubts(b *strings.Builder, r checker.Report) {
	for _, v := range r.Vacuous {
		fmt.Fprintf(b, "\nVacuous: %s\n", Escape(prose(v)))
	}
	for _, e := range r.HarnessErrors {
		fmt.Fprintf(b, "\nHarness: %s\n", Escape(inOne(e)))
	}
}

// CheckMarkdown writes c as a summary for the page of a CI job or a comment.
func CheckMarkdown(w io.Writer, c Check) error {
	var b strings.Builder
	mark := MarkUnknown
	switch {
	case len(c.Report.HarnessErrors) > 0:
		mark = MarkError
	case c.Report.Verdict == checker.Pass:
		mark = MarkExpected
	case c.Report.Verdict == checker.Fail:
		mark = MarkUnexpected
	}
	fmt.Fprintf(&b, "## %s lockbench check\n\n%s: %s\n\n**%s**\n", mark, Code(toCopy(c.File)), Escape(prose(c.about())), Escape(c.sentence()))
	if len(c.Report.Results) > 0 {
		b.WriteString("\n| property | verdict | why |\n|---|---|---|\n")
	}
	for _, res := range c.Report.Results {
		verdict := word(res.Verdict)
		if (asking{Result: res}).held() != outcomeExpected && res.Verdict != checker.NotApplicable {
			verdict = "**" + verdict + "**"
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", Escape(label(res.Property)), verdict, Escape(told(res, c.Report.Vacuous)))
	}
	doubts(&b, c.Report)
	for i, s := range c.Skipped {
		if i == mostWitnesses {
			fmt.Fprintf(&b, "\nSkipped: … and %d more\n", len(c.Skipped)-mostWitnesses)
			break
		}
		fmt.Fprintf(&b, "\nSkipped: %s\n", Escape(prose(s)))
	}
	_, err := io.WriteString(w, b.String())
	return err
}
