package report

import (
	"slices"
	"strings"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/story"
)

// What a picture is made of.
const (
	held    = '█'
	lapsed  = '░'
	waits   = '─'
	opens   = '├'
	closes  = '┤'
	refused = '✗'
	unknown = '?'
	goesOn  = '▷'
	crashed = '†'
	strikes = '┃'
	lasts   = '═'
)

// picture draws what the first violation is about: a line for each client of the witness, the
// faults meanwhile, the time, and below it the events that prove the violation. A violation of
// which a drawing says nothing gets none, and the answer is false.
func (p *printer) picture(results []checker.Result, told *story.Story) bool {
	const least = 24 // columns, below which nothing can be told apart
	room := p.style.Width - len("  nemesis  ")
	s, ok := sketched(results, told, room)
	if !ok || room < least {
		return false
	}
	lanes := s.lanes()
	more := max(len(lanes)-mostLanes, 0)
	lanes = lanes[:len(lanes)-more]
	names, about := make([]string, len(lanes)), make([]string, len(lanes))
	for i, l := range lanes {
		names[i], about[i] = histories.WorkerName(l.worker), l.about(s.beliefs)
	}
	name := widest(names)
	if len(s.faults) > 0 {
		name = max(name, len("nemesis"))
	}
	room = p.style.Width - 2 - name - 2
	if beside := widest(about); beside > 0 && room-2-beside >= 2*least {
		room -= 2 + beside
	} else {
		clear(about)
	}
	instants := s.instants(false)
	if len(instants)*crowdedPer > room {
		instants = s.instants(true)
	}
	d := &drawing{p: p, sketch: s, scale: newScale(instants, room), name: name, used: map[rune]bool{}, calls: map[histories.F]bool{}}
	for i, l := range lanes {
		d.row(names[i], d.lane(l), about[i])
	}
	d.nemesis()
	d.axis()
	for _, m := range Violations(s.results) {
		d.mark(m)
	}
	d.legend(more)
	p.line("")
	return true
}

// drawing is a sketch that is being drawn.
type drawing struct {
	p *printer
	sketch
	scale scale
	name  int // columns of names
	used  map[rune]bool
	hid   int // faults for which there was no room
	calls map[histories.F]bool
}

// row writes one line of the picture.
func (d *drawing) row(name string, cells []rune, beside string) {
	text := strings.TrimRight(string(cells), " ")
	for _, r := range text {
		d.used[r] = true
	}
	line := "  " + pad(name, d.name) + "  "
	if beside != "" {
		text = pad(text, d.scale.width) + "  "
	}
	d.p.line("%s", strings.TrimRight(line+d.p.painted(text)+d.p.dim(beside), " "))
}

// painted colours what a lane is made of.
func (p *printer) painted(s string) string {
	if !p.style.Colour {
		return s
	}
	code := func(r rune) string {
		switch r {
		case held:
			return "32"
		case lapsed:
			return "33"
		case refused, crashed:
			return "1;31"
		}
		return ""
	}
	var b strings.Builder
	for rest := s; rest != ""; {
		first := []rune(rest[:min(4, len(rest))])[0]
		n := strings.IndexFunc(rest, func(r rune) bool { return code(r) != code(first) })
		if n < 0 {
			n = len(rest)
		}
		if c := code(first); c != "" {
			b.WriteString(p.colour(c, rest[:n]))
		} else {
			b.WriteString(rest[:n])
		}
		rest = rest[n:]
	}
	return b.String()
}

// blank is an empty line of cells.
func (d *drawing) blank() []rune { return []rune(strings.Repeat(" ", d.scale.width)) }

func fill(cells []rune, from, to int, r rune) {
	for c := max(from, 0); c < min(to, len(cells)); c++ {
		cells[c] = r
	}
}

// nemesis draws the faults, each where it began and for as long as it went on.
func (d *drawing) nemesis() {
	var rows [][]rune
	var free []int // columns
	for _, f := range d.faults {
		from := d.scale.event(f.from.event, f.from.at)
		text := []rune(string(strikes) + f.label)
		end := from + len(text)
		to := d.scale.width
		if f.to.event >= 0 {
			to = d.scale.event(f.to.event, f.to.at) + 1
		}
		n := slices.IndexFunc(free, func(c int) bool { return c <= from })
		if n < 0 && len(rows) < faultRows {
			n = len(rows)
			rows, free = append(rows, d.blank()), append(free, 0)
		}
		if n < 0 {
			d.hid++
			continue
		}
		switch before := from - len(text) + 1; {
		case end <= d.scale.width:
			copy(rows[n][from:], text)
		case before >= free[n]: // there is no room behind, but before
			copy(rows[n][before:], text[1:])
			rows[n][from], end = strikes, from+1
		default:
			end = from + copy(rows[n][from:], text)
		}
		if to > end {
			fill(rows[n], end, to-1, lasts)
			rows[n][to-1] = strikes
			if f.to.event < 0 {
				rows[n][to-1] = goesOn
			}
		}
		free[n] = max(end, to) + 1
	}
	for i, row := range rows {
		name := ""
		if i == 0 {
			name = "nemesis"
		}
		d.row(name, row, "")
	}
}
