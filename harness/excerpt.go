package harness

import (
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
)

// drawing is what of a history has to be kept to draw its violations: the attempts of the
// witnesses, crashes and faults, up to the end of the last window.
type drawing struct {
	attempts map[uint64]bool
	last     int // event; -1: there is nothing to draw
}

func drawn(r checker.Report) drawing {
	d := drawing{attempts: map[uint64]bool{}, last: -1}
	for _, res := range r.Results {
		if res.Verdict != checker.Fail || res.Window == nil {
			continue
		}
		d.last = max(d.last, res.Window.Last)
		for _, a := range res.Attempts {
			d.attempts[a] = true
		}
	}
	return d
}

func (d drawing) wants(e histories.Event) bool {
	return e.Index <= d.last && (e.Process == histories.Nemesis || e.F == histories.Crash || d.attempts[e.Attempt])
}

func (d drawing) of(events []histories.Event) []histories.Event {
	var part []histories.Event
	for _, e := range events[:min(d.last+1, len(events))] {
		if d.wants(e) {
			part = append(part, e)
		}
	}
	return part
}
