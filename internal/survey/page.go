package survey

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/lockbench/lockbench/internal/anomalies"
)

// Page is docs/libraries.md as a value.
type Page struct {
	Date   string // the day of the runs
	Server string // the version of redis-server
	Shown  Shown
	Rows   []Played
}

const head = `# What real libraries show

Written by ` + "`make libraries`" + `%s, with redis-server %s. Every cell comes from runs: each library, unmodified and with its defaults, was put
through the pitfalls of %d scenarios by ` + "`lockbench gate`" + `, and what it broke there was played once more. **Shows it** is said only of what was seen
twice, and what other locks that promise no more keep under the same steps. [anomalies.md](anomalies.md) defines the names. Libraries in Go
were played in virtual time, the others as workers ([examples/libraries](../examples/libraries)) on real servers. [libraries.md](libraries.md) has
what Debian 12 has, and [libraries-trixie.md](libraries-trixie.md), by ` + "`make libraries-trixie`" + `, newer versions of some in Debian 13.

| in a cell | what it says |
|---|---|
| **shows it** | the library's own: it stands below with the command, the wire and a direct script |
| declared | the library documents it, or its call has no word for it: told, and held against nobody |
| class | no lock of its class is free of it; what is of another class, or a guard, helps |
| free | it was put through the steps that show it in another lock, and kept what they break |
| unclear | it broke something there that has no such name, or nothing can be said; it stands below |
| – | it cannot be asked: the steps need what the lock does not have |

`

// Markdown is the page.
func (p Page) Markdown() string {
	var b strings.Builder
	on := ""
	if p.Date != "" {
		on = " on " + p.Date
	}
	fmt.Fprintf(&b, head, on, p.Server, len(Asked()))
	p.table(&b)
	for _, row := range p.Rows {
		p.section(&b, row)
	}
	p.unseen(&b)
	return b.String()
}

// columns are the anomalies of which something can be said.
func (p Page) columns() []anomalies.Anomaly {
	return slices.DeleteFunc(anomalies.All(), func(a anomalies.Anomaly) bool {
		return !slices.ContainsFunc(p.Rows, func(r Played) bool {
			return r.Problem == "" && r.Cell(a.Code, p.Shown).Verdict != Unasked
		})
	})
}

func (p Page) table(b *strings.Builder) {
	columns := p.columns()
	b.WriteString("| library | version |")
	for _, a := range columns {
		fmt.Fprintf(b, " %s %s |", a.Code, a.Name)
	}
	b.WriteString("\n|---|---|" + strings.Repeat("---|", len(columns)) + "\n")
	for _, r := range p.Rows {
		fmt.Fprintf(b, "| %s (%s) | %s |", r.Name, r.Language, cmp.Or(r.Installed, "?"))
		if r.Problem != "" {
			fmt.Fprintf(b, " not played: %s |%s\n", escaped(r.Problem), strings.Repeat(" |", max(0, len(columns)-1)))
			continue
		}
		for _, a := range columns {
			fmt.Fprintf(b, " %s |", short(r.Cell(a.Code, p.Shown)))
		}
		b.WriteString("\n")
	}
}

// short is a cell in the table.
func short(c Cell) string {
	switch c.Verdict {
	case Class:
		return "class"
	case Free:
		return "free"
	case Unasked:
		return "–"
	case Shows, Declared, Unclear:
	}
	return string(c.Verdict)
}

// escaped fits into a cell.
func escaped(text string) string {
	return strings.NewReplacer("|", "\\|", "\n", " ", "<", "&lt;").Replace(text)
}

func (p Page) section(b *strings.Builder, r Played) {
	fmt.Fprintf(b, "\n## %s\n\n", r.Name)
	if r.Problem != "" {
		fmt.Fprintf(b, "Not played: %s.\n", escaped(r.Problem))
		return
	}
	fmt.Fprintf(b, "Version %s. %s\n%s\n\n", r.Installed, r.Promises, r.Safely)
	fmt.Fprintf(b, "Of %d pitfalls that have something to say of it, it keeps %d; %d more are kept by no lock of its class.\n",
		len(r.First)-r.count(inapt), r.count(expected), r.count(unavoidable))
	told := map[string]bool{}
	for _, a := range anomalies.All() {
		switch c := r.Cell(a.Code, p.Shown); c.Verdict {
		case Shows:
			fmt.Fprintf(b, "\n**%s** (%s). %s\n", a, c.Because, escaped(c.Story))
			evidence(b, c)
			r.confirmation(b, a.Code)
		case Declared:
			told[c.Because] = true
			fmt.Fprintf(b, "\n%s is declared: %s.\n", a, c.Because)
		case Unclear:
			fmt.Fprintf(b, "\n%s is unclear: %s %s.\n", a, c.Because, c.Story)
		case Class, Free, Unasked:
		}
	}
	p.nameless(b, r, told)
}

// nameless is what a library breaks that has no name, and what came to no end. What one script confirms is told together. What is in told
// was said already.
func (p Page) nameless(b *strings.Builder, r Played, told map[string]bool) {
	all := r.Nameless()
	for _, c := range all {
		if c.Verdict == Declared && told[c.Story] {
			continue
		}
		if c.Verdict == Declared {
			fmt.Fprintf(b, "\n%s is declared: %s.\n", c.Because, c.Story)
			continue
		}
		script := r.Confirm[c.Because]
		if script != "" && told[script] {
			continue
		}
		told[script] = true
		var ids []string
		for _, other := range all {
			if other.Because == c.Because || script != "" && r.Confirm[other.Because] == script {
				ids = append(ids, other.Because)
			}
		}
		fmt.Fprintf(b, "\n**%s**, without a name: %s.\n", strings.Join(ids, ", "), c.Story)
		evidence(b, c)
		r.confirmation(b, c.Because)
	}
	for _, row := range r.First {
		if row.Outcome != expected && row.Outcome != unexpected && row.Outcome != unavoidable && row.Outcome != inapt {
			fmt.Fprintf(b, "\n%s came to no verdict: %s.\n", row.ID, escaped(cmp.Or(brief(row.Reason), row.Outcome)))
		}
	}
}

func evidence(b *strings.Builder, c Cell) {
	b.WriteString("\n```\n" + c.Command + "\n")
	for _, line := range c.Wire {
		b.WriteString("    " + line + "\n")
	}
	b.WriteString("```\n")
}

// confirmation is what a script of its own saw.
func (r Played) confirmation(b *strings.Builder, about string) {
	c, ok := r.Confirmed[about]
	switch {
	case !ok:
		b.WriteString("\nNo direct script confirms it yet.\n")
	case c.Failed != "":
		fmt.Fprintf(b, "\n`%s` did not confirm it: %s.\n", c.Script, escaped(c.Failed))
	default:
		fmt.Fprintf(b, "\nConfirmed without lockbench by `%s PORT`: %s\n", c.Script, escaped(c.Saw))
	}
	if at := r.Upstream[about]; at != "" {
		fmt.Fprintf(b, "\nUpstream, about the same: %s\n", at)
	}
}

// count is how many pitfalls had an outcome.
func (r Played) count(outcome string) int {
	n := 0
	for _, row := range r.First {
		if row.Outcome == outcome {
			n++
		}
	}
	return n
}

// unseen lists the anomalies that no library was seen to show.
func (p Page) unseen(b *strings.Builder) {
	var names []string
	for _, a := range anomalies.All() {
		if !slices.ContainsFunc(p.Rows, func(r Played) bool { return r.Cell(a.Code, p.Shown).Verdict == Shows }) {
			names = append(names, a.String())
		}
	}
	fmt.Fprintf(b, "\n## Not seen yet\n\nNo library here was seen to show these of its own fault: %s.\n", strings.Join(names, ", "))
}
