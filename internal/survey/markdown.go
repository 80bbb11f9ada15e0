package survey

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/lockbench/lockbench/internal/anomalies"
)

const head = `# What real libraries show

Written by ` + "`make libraries`" + ` and ` + "`make libraries-trixie`" + `; ` + "`lockbench report --libraries`" + ` draws the same as a page for a browser. Every cell comes from
runs: each library, unmodified and with its defaults, was put through pitfalls of the [scenarios](scenarios.md) by ` + "`lockbench gate`" + `, and what it broke
there was played once more. **Shows it** is said only of what was seen twice, and what other locks that promise no more keep under the same
steps. [anomalies.md](anomalies.md) defines the names. Libraries in Go were played in virtual time, the others as workers
([examples/libraries](../examples/libraries)) on real servers. Of some there are two versions, of two releases of Debian. ` + "`lockbench show P71`" + ` prints
the steps of a pitfall.

`

// Said is how a verdict is told: in a cell, as a class of style, and in a sentence.
type Said struct {
	Verdict            Verdict
	Word, Class, Means string
}

// AllSaid returns how verdicts are told.
func AllSaid() []Said {
	return []Said{
		{Shows, "shows it", "broken", "the library's own: it stands below with the command, the wire and a direct script"},
		{Declared, "declared", "declared", "the library documents it, or its call has no word for it: told, and held against nobody"},
		{Class, "class", "class", "no lock of its class is free of it; what is of another class, or a guard, helps"},
		{Free, "free", "clean", "it was put through the steps that show it in another lock, and kept what they break"},
		{Unclear, "unclear", "unmeasured", "it broke something there that has no such name, or nothing can be said; it stands below"},
		{Unasked, "–", "unasked", "it cannot be asked: the steps need what the lock does not have"},
	}
}

// Said is how it is told. Of a verdict that there is not it is as of none.
func (v Verdict) Said() Said {
	all := AllSaid()
	for _, s := range all {
		if s.Verdict == v {
			return s
		}
	}
	return all[len(all)-1]
}

// word is the word in a table.
func (s Said) word() string {
	if s.Verdict == Shows {
		return "**" + s.Word + "**"
	}
	return s.Word
}

// Markdown is the page of results, docs/libraries.md.
func (r Results) Markdown() string {
	var b strings.Builder
	b.WriteString(head + "| in a cell | what it says |\n|---|---|\n")
	for _, s := range AllSaid() {
		fmt.Fprintf(&b, "| %s | %s |\n", s.word(), s.Means)
	}
	b.WriteString("\n")
	r.table(&b)
	for _, f := range r.Libraries {
		fmt.Fprintf(&b, "\n## %s\n\n", r.Title(f))
		f.section(&b)
	}
	var names []string
	for _, a := range r.Unseen() {
		names = append(names, a.String())
	}
	fmt.Fprintf(&b, "\n## Not seen yet\n\nNo library here was seen to show these of its own fault: %s.\n", strings.Join(names, ", "))
	return b.String()
}

func (r Results) table(b *strings.Builder) {
	columns := r.Columns()
	b.WriteString("| library | version |")
	for _, a := range columns {
		fmt.Fprintf(b, " %s %s |", a.Code, a.Name)
	}
	b.WriteString("\n|---|---|" + strings.Repeat("---|", len(columns)) + "\n")
	for _, f := range r.Libraries {
		fmt.Fprintf(b, "| %s (%s) | %s |", r.Title(f), f.Language, cmp.Or(f.Version, "?"))
		if f.Problem != "" {
			fmt.Fprintf(b, " not played: %s |%s\n", escaped(f.Problem), strings.Repeat(" |", max(0, len(columns)-1)))
			continue
		}
		for _, a := range columns {
			fmt.Fprintf(b, " %s |", f.Cell(a.Code).Verdict.Said().word())
		}
		b.WriteString("\n")
	}
}

// escaped fits into a cell.
func escaped(text string) string {
	return strings.NewReplacer("|", "\\|", "\n", " ", "<", "&lt;").Replace(text)
}

// Played says of which version, when and on what a library was played.
func (f Finding) Played() string {
	on := ""
	if f.Date != "" {
		on = " on " + f.Date
	}
	return fmt.Sprintf("Version %s of %s, played%s %s.", cmp.Or(f.Version, "?"), f.System, on, f.Where())
}

// Where says on what a library was played.
func (f Finding) Where() string {
	if f.Server == "" {
		return "in virtual time"
	}
	return "with redis-server " + f.Server
}

// Keeps says how many pitfalls a library keeps.
func (f Finding) Keeps() string {
	return fmt.Sprintf("Of %d pitfalls %d have something to say of it. It keeps %d of these, and %d more are kept by no lock of its class.", f.Pitfalls, f.Applicable, f.Kept, f.Class)
}

// WithoutTime says what key a lock has that was taken without saying for how long; empty: the library takes no such call.
func (f Finding) WithoutTime() string {
	if f.Untimed == nil {
		return ""
	}
	return fmt.Sprintf("Taken without saying for how long, %s.", f.Untimed.Saw)
}

func (f Finding) section(b *strings.Builder) {
	if f.Problem != "" {
		fmt.Fprintf(b, "Not played: %s.\n", escaped(f.Problem))
		return
	}
	fmt.Fprintf(b, "%s %s\n%s\n\n%s\n", f.Played(), f.Promises, f.Safely, f.Keeps())
	if f.Untimed != nil {
		fmt.Fprintf(b, "\n%s (`%s PORT`)\n", escaped(f.WithoutTime()), f.Untimed.Script)
	}
	for _, c := range append(slices.Clone(f.Cells), f.Nameless...) {
		if c.Verdict == Shows {
			c.shown(b)
		} else if remark := c.Remark(); remark != "" {
			b.WriteString("\n" + escaped(remark) + "\n")
		}
	}
	for _, u := range f.Undecided {
		fmt.Fprintf(b, "\n%s came to no verdict: %s.\n", u.Pitfall, escaped(u.Why))
	}
}

// Name is the anomaly, or the pitfalls of what has no name.
func (c Cell) Name() string {
	if a, ok := anomalies.Find(c.Anomaly); ok {
		return a.String()
	}
	return strings.Join(c.Pitfalls, ", ")
}

// Remark is what is told of what is declared or unclear. Of the rest the table says it all.
func (c Cell) Remark() string {
	switch c.Verdict {
	case Declared:
		return fmt.Sprintf("%s is declared: %s.", c.Name(), c.Story)
	case Unclear:
		return fmt.Sprintf("%s is unclear: %s %s.", c.Name(), strings.Join(c.Pitfalls, ", "), c.Story)
	case Shows, Class, Free, Unasked:
	}
	return ""
}

// shown tells what a library shows: what was seen, the command, the wire, the script, and the thread upstream.
func (c Cell) shown(b *strings.Builder) {
	if c.Anomaly == "" {
		fmt.Fprintf(b, "\n**%s**, without a name: %s.\n", c.Name(), c.Story)
	} else {
		fmt.Fprintf(b, "\n**%s** (%s). %s\n", c.Name(), strings.Join(c.Pitfalls, ", "), escaped(c.Story))
	}
	b.WriteString("\n```\n" + c.Command + "\n")
	for _, line := range c.Wire {
		b.WriteString("    " + line + "\n")
	}
	b.WriteString("```\n")
	switch {
	case c.Confirmed == nil:
		b.WriteString("\nNo direct script confirms it yet.\n")
	case c.Confirmed.Failed != "":
		fmt.Fprintf(b, "\n`%s` did not confirm it: %s.\n", c.Confirmed.Script, escaped(c.Confirmed.Failed))
	default:
		fmt.Fprintf(b, "\nConfirmed without lockbench by `%s PORT`: %s\n", c.Confirmed.Script, escaped(c.Confirmed.Saw))
	}
	if c.Upstream != "" {
		fmt.Fprintf(b, "\nUpstream, about the same: %s\n", c.Upstream)
	}
}
