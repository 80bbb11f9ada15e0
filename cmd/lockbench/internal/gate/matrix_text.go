package gate

import (
	"fmt"
	"io"
	"strings"

	"github.com/lockbench/lockbench/internal/report"
	"github.com/lockbench/lockbench/internal/words"
)

// Text writes m for people: a row for each pitfall, a column for each lock, which the legend
// names, and then what breaks each lock.
func (m Matrix) Text(w io.Writer, style report.Style) error {
	page := report.NewPage(style)
	page.Para("lockbench matrix  ", m.title(), report.Strong)
	page.Line()
	families := m.families()
	number := m.numbers(families)
	wide := 0
	for _, p := range m.pitfalls {
		wide = max(wide, len(p.id)+1+len(p.name))
	}
	for _, block := range blocks(families, (page.Width()-wide)/2) {
		m.grid(page, block, number, wide)
		page.Line()
	}
	page.Para("", "X broken · o broken, as every lock of its class · . held · - not applicable · ? unknown", report.Quiet)
	for _, f := range families {
		page.Line()
		page.Line(page.Paint(report.Strong, f.name))
		for _, i := range f.members {
			name := m.locks[i].Name
			page.Para(fmt.Sprintf("%4d  %s  ", number[i], page.Cell(name, m.longestLock(), report.Plain)), m.breaks(i), report.Plain)
		}
	}
	page.Line()
	page.Line("To see one, and why: lockbench why LOCK PITFALL")
	page.Para("", fmt.Sprintf("%s: %d broken, %d broken as their class, %d held, %d not applicable, %d unknown.", words.Count(len(m.Cells), "cell"),
		m.count(IsBroken), m.count(OfClass), m.count(Held), m.count(DoesNotApply), m.count(NotKnown)), report.Strong)
	_, err := page.WriteTo(w)
	return err
}

func (m Matrix) title() string {
	return fmt.Sprintf("%s under %s · %s · %s from %d", words.Count(len(m.locks), "lock"), words.Count(len(m.pitfalls), "pitfall"), backend(m.Backend), words.Count(m.Runs, "seed"), m.Seed)
}

func (m Matrix) longestLock() int {
	n := 0
	for _, l := range m.locks {
		n = max(n, len(l.Name))
	}
	return n
}

// numbers are those of the locks in the order in which they are drawn.
func (m Matrix) numbers(families []family) map[int]int {
	number := map[int]int{}
	for _, f := range families {
		for _, i := range f.members {
			number[i] = len(number) + 1
		}
	}
	return number
}

// blocks cuts the families into blocks of at most so many columns; between two families of
// a block there is an empty column.
func blocks(families []family, columns int) [][]family {
	columns = max(columns, 10)
	var all [][]family
	var block []family
	used := 0
	for _, f := range families {
		if len(block) > 0 && used+len(f.members)+len(block) > columns {
			all, block, used = append(all, block), nil, 0
		}
		for len(f.members) > columns {
			all = append(all, []family{{f.name, f.members[:columns]}})
			f.members = f.members[columns:]
		}
		block, used = append(block, f), used+len(f.members)
	}
	return append(all, block)
}

func (m Matrix) grid(page *report.Page, block []family, number map[int]int, wide int) {
	var tens, units strings.Builder
	for _, f := range block {
		for _, i := range f.members {
			n := number[i]
			if n >= 10 {
				fmt.Fprintf(&tens, "%2d", n/10%10)
			} else {
				tens.WriteString("  ")
			}
			fmt.Fprintf(&units, "%2d", n%10)
		}
		tens.WriteString(" ")
		units.WriteString(" ")
	}
	page.Line(strings.Repeat(" ", wide), page.Paint(report.Quiet, tens.String()))
	page.Line(strings.Repeat(" ", wide), page.Paint(report.Quiet, units.String()))
	for row, p := range m.pitfalls {
		var cells strings.Builder
		for _, f := range block {
			for _, i := range f.members {
				sign, tone := m.at(row, i).sign()
				cells.WriteString(" " + page.Paint(tone, sign))
			}
			cells.WriteString(" ")
		}
		page.Line(page.Cell(p.id+" "+p.name, wide, report.Plain), cells.String())
	}
}

func (c Cell) sign() (string, report.Tone) {
	switch c.State {
	case Held:
		return ".", report.Good
	case IsBroken:
		return "X", report.Bad
	case OfClass:
		return "o", report.Quiet
	case DoesNotApply:
		return "-", report.Quiet
	}
	return "?", report.Doubtful
}

// breaks lists the pitfalls that break a lock.
func (m Matrix) breaks(lock int) string {
	var all []string
	for row, p := range m.pitfalls {
		if c := m.at(row, lock); c.State == IsBroken {
			text := p.id
			if c.Guard != "none" {
				text += " (" + c.Guard + ")"
			}
			all = append(all, text)
		}
	}
	if len(all) == 0 {
		return "nothing"
	}
	return strings.Join(all, ", ")
}
