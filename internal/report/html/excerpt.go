package html

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/report"
	"github.com/lockbench/lockbench/internal/words"
)

// How many events a page lists. A history that is longer is told around what proves its
// violations; without any, its beginning is.
const (
	mostEvents  = 700
	around      = 25 // events before and behind the first violation
	aroundOther = 3  // and those of others
	beginning   = 200
)

// A stretch is a part of the events: from the one at one place up to, and without, that at
// another.
type stretch struct{ from, to int }

// excerpt are the stretches that are listed, in order and apart from each other.
func excerpt(r report.Run) []stretch {
	n := len(r.Events)
	if n == 0 {
		return nil
	}
	if n <= mostEvents {
		return []stretch{{0, n}}
	}
	at := func(index int) int { // the events may be a part of the history
		return sort.Search(n, func(i int) bool { return r.Events[i].Index >= index })
	}
	var wanted []stretch
	for _, res := range report.Proven(r.Results) {
		pad := around
		if len(wanted) > 0 {
			pad = aroundOther
		}
		if win := res.Window; win != nil && len(wanted) == 0 && 0 <= win.First && at(win.Last)-at(win.First) < mostEvents/2 {
			wanted = append(wanted, stretch{at(win.First) - pad, at(win.Last) + 1 + pad})
		}
		for _, w := range res.Witness {
			wanted = append(wanted, stretch{at(w) - pad, at(w) + 1 + pad})
		}
	}
	if wanted == nil {
		return []stretch{{0, beginning}}
	}
	return union(wanted, n)
}

// union joins stretches of a history of n events where they touch. The first ones are kept up
// to mostEvents.
func union(wanted []stretch, n int) []stretch {
	var all []stretch
	room := mostEvents
	for _, s := range wanted {
		s = stretch{min(max(s.from, 0), n), max(min(s.to, n), 0)}
		if s.from >= s.to || s.to-s.from > room {
			continue
		}
		room -= s.to - s.from
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b stretch) int { return cmp.Compare(a.from, b.from) })
	var joined []stretch
	for _, s := range all {
		if last := len(joined) - 1; last >= 0 && s.from <= joined[last].to {
			joined[last].to = max(joined[last].to, s.to)
			continue
		}
		joined = append(joined, s)
	}
	return joined
}

// A part of the list is a stretch told in rows, behind a gap that says what was left out.
type part struct {
	Gap  string
	Rows []row
}

type row struct {
	report.Row
	Times   string
	Class   string
	ID      string   // of the first event
	Anchors []string // of the others that something points to
}

// list tells the stretches of a run.
func (p *page) list(r report.Run) {
	t := report.NewTimeline(r)
	if r.InPart() {
		p.listKnown(t, r)
		return
	}
	end := 0
	for _, s := range excerpt(r) {
		p.Parts = append(p.Parts, part{Gap: p.leftOut(r.Events[end:s.from]), Rows: p.rows(t, r.Events[s.from:s.to])})
		end = s.to
		p.Listed += s.to - s.from
	}
	if end < len(r.Events) {
		p.Parts = append(p.Parts, part{Gap: p.leftOut(r.Events[end:])})
	}
}

// listKnown tells a part of a history. Of what lies between its events no more is known than how much it is.
func (p *page) listKnown(t *report.Timeline, r report.Run) {
	next := 0 // event
	for _, s := range excerpt(r) {
		for from := s.from; from < s.to; {
			to := from + 1
			for to < s.to && r.Events[to].Index == r.Events[to-1].Index+1 {
				to++
			}
			p.Parts = append(p.Parts, part{Gap: p.unread(next, r.Events[from].Index), Rows: p.rows(t, r.Events[from:to])})
			next = r.Events[to-1].Index + 1
			p.Listed += to - from
			from = to
		}
	}
	if next < r.Total {
		p.Parts = append(p.Parts, part{Gap: p.unread(next, r.Total)})
	}
}

// unread says that events are not listed: those from one up to, and without, another.
func (p *page) unread(from, to int) string {
	if from >= to {
		return ""
	}
	return p.in.Sayf("%s not listed here: %d to %d", p.in.Count(to-from, "event"), from, to-1)
}

func (p *page) rows(t *report.Timeline, events []histories.Event) []row {
	var rows []row
	for _, told := range t.Rows(events) {
		row := row{Row: told, Times: words.Instant(told.At)}
		switch {
		case told.Alarm:
			row.Class = "alarm"
		case told.Who == histories.WorkerName(histories.Nemesis):
			row.Class = "fault"
		}
		row.Who = p.in.Say(row.Who)
		if told.First != report.None {
			row.ID = anchor(told.First)
			p.anchors[told.First] = true
			for _, i := range p.pointedAt(told.First, told.Last) {
				row.Anchors = append(row.Anchors, anchor(i))
				p.anchors[i] = true
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// pointedAt are the events behind first, up to last, that something points to: last, and what is
// cited. The indexes of a history that nobody could judge may lie far apart.
func (p *page) pointedAt(first, last int) []int {
	if last <= first {
		return nil
	}
	events := []int{last}
	for i := range p.cited {
		if first < i && i < last {
			events = append(events, i)
		}
	}
	slices.Sort(events)
	return events
}

func anchor(event int) string { return fmt.Sprintf("e%d", event) }

// leftOut says what is not listed.
func (p *page) leftOut(events []histories.Event) string {
	if len(events) == 0 {
		return ""
	}
	first, last := events[0], events[len(events)-1]
	return p.in.Sayf("%s not listed here: %d to %d, from %s s to %s s",
		p.in.Count(len(events), "event"), first.Index, last.Index, words.Instant(first.Time), words.Instant(last.Time))
}
