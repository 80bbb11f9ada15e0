package gate

import (
	"fmt"
	"io"
	"strings"

	"github.com/lockbench/lockbench/internal/resource"
	"github.com/lockbench/lockbench/internal/words"
)

const matrixPreface = "<!-- Written by make docs from runs. Do not edit. -->\n" + `
# Which lock survives which pitfall

Every lock was put through the steps of every pitfall, and asked for whatever another lock of its
class, which promises no more, keeps under them. Most locks were not written with most of these steps
in mind: this page says what would happen to them, and [the track record](track-record.md) what the
catalogue expects.

**X** broken, and another lock of its class is not · **o** broken, as every lock of its class ·
**.** held · **-** not applicable · **?** unknown

` + "`lockbench why LOCK PITFALL` (such as `lockbench why setnx-px-get-del P08`) tells of one place of it the\n" +
	"cause, the command that shows it, and what survives the same steps. [scenarios.md](scenarios.md) has the\n" +
	"pitfalls, and [locks.md](locks.md) the locks.\n"

// decade and half are how many pitfalls stand in a group and in a block.
const decade, half = 10, 50

// Markdown writes m as a page: a grid for each family of locks.
func (m Matrix) Markdown(w io.Writer) error {
	var b strings.Builder
	b.WriteString(matrixPreface)
	m.guards(&b)
	fmt.Fprintf(&b, "\n%s: %d broken, %d broken as their class, %d held, %d not applicable, %d unknown.\nBackend %s, %s from %d.\n",
		words.Count(len(m.Cells), "cell"), m.count(IsBroken), m.count(OfClass), m.count(Held), m.count(DoesNotApply), m.count(NotKnown),
		m.Backend, words.Count(m.Runs, "seed"), m.Seed)
	for _, f := range m.families() {
		fmt.Fprintf(&b, "\n## %s\n\n```text\n", f.name)
		for from := 0; from < len(m.pitfalls); from += half {
			m.block(&b, f, from, min(from+half, len(m.pitfalls)))
		}
		b.WriteString("```\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// guards names the pitfalls whose sections have a guard.
func (m Matrix) guards(b *strings.Builder) {
	var all []string
	for _, p := range m.pitfalls {
		if p.guard != resource.None.String() {
			all = append(all, p.id+" "+p.guard)
		}
	}
	if len(all) > 0 {
		b.WriteString("\nThe sections of all locks have the guard that the pitfall is about: " + strings.Join(all, ", ") + ".\n")
	}
}

// block writes a row for each lock of a family, and a column for each of some pitfalls.
func (m Matrix) block(b *strings.Builder, f family, from, to int) {
	if from > 0 {
		b.WriteString("\n")
	}
	wide := m.longestLock()
	line := func(name string, column func(pitfall int) string) {
		text := fmt.Sprintf("%-*s", wide, name)
		for i := from; i < to; i++ {
			if (i-from)%decade == 0 {
				text += "  "
			}
			text += column(i)
		}
		b.WriteString(strings.TrimRight(text, " ") + "\n")
	}
	for _, digits := range []func(id string) string{
		func(id string) string { return id[len(id)-2 : len(id)-1] },
		func(id string) string { return id[len(id)-1:] },
	} {
		line("", func(i int) string { return digits(m.pitfalls[i].id) })
	}
	for _, l := range f.members {
		line(m.locks[l].Name, func(i int) string {
			sign, _ := m.at(i, l).sign()
			return sign
		})
	}
}
