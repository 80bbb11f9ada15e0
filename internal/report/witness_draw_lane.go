package report

import (
	"fmt"
	"strings"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/story"
	"github.com/lockbench/lockbench/internal/words"
)

// about is what is said beside a lane, of its one hold.
func (l lane) about(beliefs []story.Belief) string {
	var mine []story.Belief
	for _, b := range beliefs {
		if l.attempts[b.Attempt] {
			mine = append(mine, b)
		}
	}
	if len(mine) != 1 {
		return ""
	}
	h := mine[0]
	var about []string
	if h.Mode == histories.Shared {
		about = append(about, "reader")
	}
	if d := h.Lease(); d > 0 {
		about = append(about, "lease until "+words.Instant(d))
	}
	if h.Token > 0 {
		about = append(about, fmt.Sprintf("token %d", h.Token))
	}
	return strings.Join(about, ", ")
}

// lane draws the attempts of a lane.
func (d *drawing) lane(l lane) []rune {
	cells := d.blank()
	for _, b := range d.beliefs {
		if l.attempts[b.Attempt] {
			d.belief(cells, b)
		}
	}
	ops, _ := histories.Pair(d.mine(l)) // a history that does not pair is drawn as far as it does
	for _, o := range ops {
		if isCall(o.Invoke.F) {
			d.call(cells, o, d.crash(l, o))
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
func (d *drawing) belief(cells []rune, h story.Belief) {
	from, to := d.scale.event(h.Returned.Event, h.Returned.Time), d.scale.width
	if !h.Open() {
		to = d.scale.event(h.Ended.Event, h.Ended.Time)
	}
	fill(cells, from+1, to, held)
	if at, over := h.Lapse(d.end); over {
		fill(cells, max(d.scale.time(at), from)+1, to, lapsed)
	}
	if h.Open() {
		cells[len(cells)-1] = goesOn
	}
}

// crash is where the client of an unfinished call crashed in it; nil: nowhere.
func (d *drawing) crash(l lane, o histories.Op) *histories.Event {
	for _, e := range d.mine(l) {
		if e.F == histories.Crash && !o.Done && e.Index > o.Invoke.Index {
			return &e
		}
	}
	return nil
}

// call draws an acquire or a release from its beginning to its end, which may be the crash of its client.
func (d *drawing) call(cells []rune, o histories.Op, crash *histories.Event) {
	from, to := d.scale.event(o.Invoke.Index, o.Invoke.Time), len(cells)-1
	end := goesOn
	if o.Done {
		to = d.scale.event(o.Complete.Index, o.Complete.Time)
		end = map[histories.Type]rune{histories.OK: closes, histories.Fail: refused, histories.Info: unknown}[o.Complete.Type]
	}
	if crash != nil {
		to, end = d.scale.event(crash.Index, crash.Time), crashed
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
	case histories.Verify:
		return 'v', "verify"
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
