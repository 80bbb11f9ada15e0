package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
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

// ascii says each of them without leaving ASCII.
func ascii(r rune) rune {
	at := strings.IndexRune("█░─├┤✗▷†┃═·…", r)
	switch {
	case at >= 0:
		return rune("#.-||x>+!=-~"[len([]rune("█░─├┤✗▷†┃═·…"[:at]))])
	case r > 0x7e:
		return '?'
	}
	return r
}

// picture draws what the first violation is about: a line for each client of the witness, the
// faults meanwhile, the time, and below it the events that prove the violation. A violation of
// which a drawing says nothing gets none, and the answer is false.
func (p *printer) picture(results []checker.Result, events []histories.Event) bool {
	const least = 24 // columns, below which nothing can be told apart
	room := p.style.Width - len("  nemesis  ")
	s, ok := sketched(results, events, room)
	if !ok || room < least {
		return false
	}
	lanes := s.lanes()
	more := max(len(lanes)-mostLanes, 0)
	lanes = lanes[:len(lanes)-more]
	holds := histories.Holds(s.events)
	names, about := make([]string, len(lanes)), make([]string, len(lanes))
	for i, l := range lanes {
		names[i], about[i] = histories.WorkerName(l.worker), l.about(holds)
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
		d.row(names[i], d.lane(l, holds), about[i])
	}
	d.nemesis()
	d.axis()
	for _, m := range s.marks() {
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
	d.p.line("%s", strings.TrimRight(line+d.p.painted(d.p.plainer(text))+d.p.dim(d.p.plainer(beside)), " "))
}

// plainer is s in ASCII if the style wants that.
func (p *printer) plainer(s string) string {
	if p.style.ASCII {
		return strings.Map(ascii, s)
	}
	return s
}

// painted colours what a lane is made of.
func (p *printer) painted(s string) string {
	if !p.style.Colour {
		return s
	}
	code := func(r rune) string {
		switch r {
		case held, ascii(held):
			return "32"
		case lapsed, ascii(lapsed):
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

// about is what is said beside a lane, of its one hold.
func (l lane) about(holds []histories.Hold) string {
	var mine []histories.Hold
	for _, h := range holds {
		if l.attempts[h.Attempt] && h.Believed() {
			mine = append(mine, h)
		}
	}
	if len(mine) != 1 {
		return ""
	}
	h := mine[0]
	var words []string
	if h.Mode == histories.Shared {
		words = append(words, "reader")
	}
	if d := leaseOf(h); d > 0 {
		words = append(words, "lease until "+seconds(d))
	}
	if h.Token > 0 {
		words = append(words, fmt.Sprintf("token %d", h.Token))
	}
	return strings.Join(words, ", ")
}

// blank is an empty line of cells.
func (d *drawing) blank() []rune { return []rune(strings.Repeat(" ", d.scale.width)) }

func fill(cells []rune, from, to int, r rune) {
	for c := max(from, 0); c < min(to, len(cells)); c++ {
		cells[c] = r
	}
}

// lane draws the attempts of a lane.
func (d *drawing) lane(l lane, holds []histories.Hold) []rune {
	cells := d.blank()
	for _, h := range holds {
		if l.attempts[h.Attempt] && h.Believed() {
			d.belief(cells, h)
		}
	}
	ops, _ := histories.Pair(d.mine(l)) // a history that does not pair is drawn as far as it does
	for _, o := range ops {
		if isCall(o.Invoke.F) {
			d.call(cells, o)
		}
	}
	for _, o := range ops {
		if !isCall(o.Invoke.F) {
			d.inside(cells, o)
		}
	}
	for _, e := range d.mine(l) {
		if e.F == histories.Crash {
			cells[d.scale.event(e.Index, e.Time)] = crashed
		}
	}
	return cells
}

func (d *drawing) mine(l lane) []histories.Event {
	var mine []histories.Event
	for _, e := range d.events {
		if l.attempts[e.Attempt] || e.F == histories.Crash && e.Attempt == 0 && e.Worker == l.worker {
			mine = append(mine, e)
		}
	}
	return mine
}

// belief draws how long a holder believed, and from when on without a lease.
func (d *drawing) belief(cells []rune, h histories.Hold) {
	from, to := d.scale.event(h.Returned.Event, h.Returned.Time), d.scale.width
	if !h.Open() {
		to = d.scale.event(h.Ended.Event, h.Ended.Time)
	}
	fill(cells, from+1, to, held)
	if at, ok := lapse(h, d.end); ok {
		fill(cells, max(d.scale.time(at), from)+1, to, lapsed)
	}
	if h.Open() {
		cells[len(cells)-1] = goesOn
	}
}

// call draws an acquire or a release from its beginning to its end.
func (d *drawing) call(cells []rune, o histories.Op) {
	from, to := d.scale.event(o.Invoke.Index, o.Invoke.Time), len(cells)-1
	end := goesOn
	if o.Done {
		to = d.scale.event(o.Complete.Index, o.Complete.Time)
		end = map[histories.Type]rune{histories.OK: closes, histories.Fail: refused, histories.Info: unknown}[o.Complete.Type]
	}
	fill(cells, from+1, to, waits)
	if word := []rune(string(o.Invoke.F)); to-from-1 >= len(word)+2 {
		copy(cells[from+1+(to-from-1-len(word))/2:], word)
	}
	cells[to] = end
	if from < to || !o.Done { // what has only begun begins at the margin
		cells[from] = opens
	}
}

// letter stands for a call within a section, where it ends; 0 for other calls.
func letter(f histories.F) (rune, string) {
	switch f {
	case histories.Read:
		return 'r', "read"
	case histories.Write:
		return 'w', "write"
	case histories.Incr:
		return 'i', "increment"
	case histories.Draw:
		return 'd', "draw"
	case histories.Extend:
		return 'e', "extend"
	case histories.Count:
		return 'c', "count"
	}
	return 0, ""
}

// inside draws a call within a section by a letter at its end, or by what became of it.
func (d *drawing) inside(cells []rune, o histories.Op) {
	r, _ := letter(o.Invoke.F)
	e := o.Complete
	if !o.Done {
		e = o.Invoke
	}
	at, drawn := d.scale.events[e.Index]
	if r == 0 || !drawn {
		return
	}
	cells[at], d.calls[o.Invoke.F] = r, true
	if !o.Done || e.Type != histories.OK {
		if at+1 < len(cells) {
			cells[at+1] = map[bool]rune{true: refused, false: unknown}[o.Done && e.Type == histories.Fail]
		}
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
			if text := seconds(i.at); want(n) && !told[text] {
				told[text] = put(cells, d.scale.columns[n], text)
			}
		}
	}
	d.p.line("%s", d.p.dim(strings.Repeat(" ", 2+d.name+2)+strings.TrimRight(string(cells), " ")))
}

// mark points at the events that prove a violation, and says what they prove.
func (d *drawing) mark(m mark) {
	left, text := strings.Repeat(" ", 2+d.name+2), and(m.proves)
	room := d.p.style.Width - len(left)
	const longest = 8 // of the number at the margin
	cells := []rune(strings.Repeat(" ", min(d.scale.width+longest, room)))
	var at []int
	for _, w := range m.witness {
		if c, drawn := d.scale.events[w]; drawn {
			at = append(at, c)
			cells[c] = '^'
		}
	}
	if len(at) == 0 {
		return
	}
	for _, w := range m.witness {
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

// legend says what the picture is made of.
func (d *drawing) legend(more int) {
	var parts []string
	if d.used[held] || d.used[lapsed] {
		parts = append(parts, d.sign(held)+" believes that it holds "+d.key())
	}
	if d.used[lapsed] {
		parts = append(parts, d.sign(lapsed)+" though its lease is over")
	}
	calls := d.sign(opens) + d.sign(closes) + " acquire, release"
	if d.used[refused] {
		calls += ", " + d.sign(refused) + " refused"
	}
	if d.used[unknown] {
		calls += ", ? outcome unknown"
	}
	parts = append(parts, calls)
	var inside []string
	for _, f := range []histories.F{histories.Read, histories.Write, histories.Incr, histories.Draw, histories.Extend, histories.Count} {
		if r, word := letter(f); d.calls[f] {
			inside = append(inside, string(r)+" "+word)
		}
	}
	if len(inside) > 0 {
		parts = append(parts, strings.Join(inside, ", "))
	}
	if d.used[crashed] {
		parts = append(parts, d.sign(crashed)+" crash")
	}
	if d.hid > 0 {
		parts = append(parts, count(d.hid, "fault")+" more")
	}
	if more > 0 {
		parts = append(parts, "and others")
	}
	parts = append(parts, "time is not to scale")
	d.p.para("  ", d.p.plainer(strings.Join(parts, " · ")), d.p.dim)
}

// sign is a cell as the style draws it.
func (d *drawing) sign(r rune) string { return d.p.plainer(string(r)) }

// key names what is held.
func (d *drawing) key() string {
	keys := map[string]bool{}
	for _, e := range d.events {
		if e.Key != "" {
			keys[e.Key] = true
		}
	}
	if len(keys) != 1 {
		return "the lock"
	}
	for k := range keys {
		return brief(k, 40)
	}
	return ""
}
