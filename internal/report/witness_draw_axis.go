package report

import (
	"fmt"
	"strings"

	"github.com/lockbench/lockbench/internal/words"
)

// put writes text at a column, or further left if it would leave the picture, if nothing is
// there yet.
func put(cells []rune, at int, text string) bool {
	at = max(min(at, len(cells)-len(text)), 0)
	for c := at - 1; c <= at+len(text); c++ {
		if c >= 0 && c < len(cells) && cells[c] != ' ' {
			return false
		}
	}
	return copy(cells[at:], []rune(text)) > 0
}

// axis writes times below instants: of what the witnesses name first, then of the others as
// far as there is room.
func (d *drawing) axis() {
	cells := d.blank()
	cited := map[int]bool{}
	for _, res := range d.results {
		for _, w := range res.Witness {
			cited[w] = true
		}
	}
	told := map[string]bool{}
	instants := d.scale.instants
	last := len(instants) - 1
	for _, want := range []func(n int) bool{
		func(n int) bool { return cited[instants[n].event] },
		func(n int) bool { return n == 0 || n == last || instants[n].event < 0 },
		func(int) bool { return true },
	} {
		for n, i := range instants {
			if text := words.Instant(i.at); want(n) && !told[text] {
				told[text] = put(cells, d.scale.columns[n], text)
			}
		}
	}
	d.p.line("%s", d.p.dim(strings.Repeat(" ", 2+d.name+2)+strings.TrimRight(string(cells), " ")))
}

// mark points at the events that prove a violation, and says what they prove.
func (d *drawing) mark(v Violation) {
	var proves []string
	for _, res := range v.Results {
		proves = append(proves, label(res.Property))
	}
	left, text := strings.Repeat(" ", 2+d.name+2), and(proves)
	room := d.p.style.Width - len(left)
	const longest = 8 // of the number at the margin
	cells := []rune(strings.Repeat(" ", min(d.scale.width+longest, room)))
	var at []int
	for _, w := range v.Witness {
		if c, drawn := d.scale.events[w]; drawn {
			at = append(at, c)
			cells[c] = '^'
		}
	}
	if len(at) == 0 {
		return
	}
	for _, w := range v.Witness {
		if c, drawn := d.scale.events[w]; drawn {
			number(cells, c+1, fmt.Sprint(w))
		}
	}
	carets := strings.TrimRight(string(cells), " ")
	switch {
	case len(carets)+2+columns(text) <= room:
		d.p.line("%s%s  %s", left, carets, d.p.red(text))
	case columns(text)+2 <= at[0]:
		d.p.line("%s%s  %s", left, strings.Repeat(" ", at[0]-2-columns(text))+d.p.red(text), carets[at[0]:])
	default:
		d.p.line("%s%s", left, carets)
		d.p.para(left, text, d.p.red)
	}
}

// number writes an event's number behind its caret if it does not run into the next one.
func number(cells []rune, at int, text string) {
	if at+len(text) > len(cells) || strings.Trim(string(cells[at:min(at+len(text)+1, len(cells))]), " ") != "" {
		return
	}
	copy(cells[at:], []rune(text))
}
