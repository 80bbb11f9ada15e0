package gate

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/lockbench/lockbench/internal/report"
	"github.com/lockbench/lockbench/internal/words"
)

const matrixPreface = `<!-- Written by make docs from runs. Do not edit. -->

# Which lock survives which pitfall

Every lock was put through the steps of every pitfall, and asked for whatever another lock of its class, which
promises no more, keeps under them. Most locks were not written with most of these steps in mind: this page says
what would happen to them, and [the track record](track-record.md) what the catalogue expects.

✗ broken, and the command that shows it is further down · ○ broken, as every lock of its class · ✓ held · – not applicable · ? unknown

The sections of all locks have the guard that the pitfall is about, which is named where there is one.
`

// Markdown writes m as a page: a table for each family of locks, then for each lock what
// breaks it and the command that shows it, then what does not apply, and why.
func (m Matrix) Markdown(w io.Writer) error {
	var b strings.Builder
	b.WriteString(matrixPreface)
	fmt.Fprintf(&b, "\n%s: %d broken, %d broken as their class, %d held, %d not applicable, %d unknown. Backend %s, %s from %d.\n",
		words.Count(len(m.Cells), "cell"), m.count(IsBroken), m.count(OfClass), m.count(Held), m.count(DoesNotApply), m.count(NotKnown),
		m.Backend, words.Count(m.Runs, "seed"), m.Seed)
	for _, f := range m.families() {
		m.table(&b, f)
	}
	b.WriteString("\n# What breaks, and how to see it\n")
	for _, f := range m.families() {
		for _, i := range f.members {
			m.lock(&b, i)
		}
	}
	m.reasons(&b, "What does not apply", DoesNotApply)
	m.reasons(&b, "What is unknown", NotKnown)
	_, err := io.WriteString(w, b.String())
	return err
}

func (m Matrix) table(b *strings.Builder, f family) {
	fmt.Fprintf(b, "\n## %s\n\n| pitfall |", f.name)
	for _, i := range f.members {
		fmt.Fprintf(b, " %s |", m.locks[i].Name)
	}
	b.WriteString("\n|---|" + strings.Repeat(":-:|", len(f.members)) + "\n")
	for row, p := range m.pitfalls {
		name := p.id + " " + p.name
		if p.guard != "none" {
			name += ", guard " + p.guard
		}
		fmt.Fprintf(b, "| %s |", name)
		for _, i := range f.members {
			fmt.Fprintf(b, " %s |", map[State]string{Held: "✓", IsBroken: "✗", OfClass: "○", DoesNotApply: "–", NotKnown: "?"}[m.at(row, i).State])
		}
		b.WriteString("\n")
	}
}

// lock tells what breaks a lock.
func (m Matrix) lock(b *strings.Builder, lock int) {
	fmt.Fprintf(b, "\n## %s\n\n%s\n\n", m.locks[lock].Name, report.Escape(m.locks[lock].Title))
	broken := false
	for row, p := range m.pitfalls {
		c := m.at(row, lock)
		if c.State != IsBroken {
			continue
		}
		if !broken {
			b.WriteString("| pitfall | violated | shown by |\n|---|---|---|\n")
			broken = true
		}
		fmt.Fprintf(b, "| %s %s | %s | %s |\n", p.id, report.Escape(p.title), strings.Join(labels(c.Violated), ", "), report.Code(c.Command))
	}
	if !broken {
		b.WriteString("Nothing that was tried.\n")
	}
}

// reasons tells of the cells in a state why they are: what several locks have in common is
// one line.
func (m Matrix) reasons(b *strings.Builder, title string, s State) {
	type line struct {
		pitfall, reason string
		locks           []string
	}
	var lines []*line
	for _, c := range m.Cells {
		if c.State != s {
			continue
		}
		i := slices.IndexFunc(lines, func(l *line) bool { return l.pitfall == c.ID && l.reason == c.Reason })
		if i < 0 {
			i = len(lines)
			lines = append(lines, &line{pitfall: c.ID, reason: c.Reason})
		}
		lines[i].locks = append(lines[i].locks, c.Lock)
	}
	if len(lines) == 0 {
		return
	}
	fmt.Fprintf(b, "\n# %s\n\n| pitfall | why | locks |\n|---|---|---|\n", title)
	for _, l := range lines {
		fmt.Fprintf(b, "| %s | %s | %s |\n", l.pitfall, report.Escape(l.reason), m.who(l.locks))
	}
}

// who names locks, or those that are not among them if that is shorter.
func (m Matrix) who(names []string) string {
	if len(names) <= len(m.locks)/2 {
		return strings.Join(names, ", ")
	}
	var others []string
	for _, l := range m.locks {
		if !slices.Contains(names, l.Name) {
			others = append(others, l.Name)
		}
	}
	if len(others) == 0 {
		return "all"
	}
	return "all but " + strings.Join(others, ", ")
}
