package harness

import (
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
)

// An excerpt is the part of a history that is needed to draw its violations: the attempts of the
// witnesses, crashes and faults, up to the end of the last window.
type excerpt struct {
	attempts map[uint64]bool
	last     int // event; -1: there is nothing to draw
}

func excerptOf(r checker.Report) excerpt {
	e := excerpt{attempts: map[uint64]bool{}, last: -1}
	for _, res := range r.Results {
		if res.Verdict != checker.Fail || res.Window == nil {
			continue
		}
		e.last = max(e.last, res.Window.Last)
		for _, a := range res.Attempts {
			e.attempts[a] = true
		}
	}
	return e
}

func (e excerpt) wants(of histories.Event) bool {
	return of.Index <= e.last && (of.Process == histories.Nemesis || of.F == histories.Crash || e.attempts[of.Attempt])
}

func (e excerpt) of(events []histories.Event) []histories.Event {
	var part []histories.Event
	for _, event := range events[:min(e.last+1, len(events))] {
		if e.wants(event) {
			part = append(part, event)
		}
	}
	return part
}
