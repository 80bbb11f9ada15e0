package report

import (
	"slices"

	"github.com/lockbench/lockbench/histories"
)

// Alike reports whether two events tell the same but for what no two runs of different seeds, or
// in real time, have in common.
func Alike(a, b histories.Event) bool {
	for _, e := range []*histories.Event{&a, &b} {
		e.Index, e.Time, e.Attempt, e.Deadline = 0, 0, 0, 0
		if e.F == histories.Audit && e.TTL > 0 {
			e.TTL = 1 // what was left of it
		}
	}
	return a == b
}

// A Parting is where a run and its twin part: the first event of a client, or of the faults, that is not the one which the same has
// there in the other run. Two locks take different times for the same, so that events of several clients may come in another order
// and nobody has done anything else.
type Parting struct {
	Event int // of the run; None: it has ended where the twin goes on
	Twin  int // of the twin; None: it has ended there
	Who   string
}

// Part returns where a run and its twin part. ok is false if they do not.
func Part(r, twin Run) (p Parting, ok bool) {
	theirs := map[int][]histories.Event{}
	for _, e := range twin.Events {
		theirs[e.Worker] = append(theirs[e.Worker], e)
	}
	for _, e := range r.Events {
		rest := theirs[e.Worker]
		if len(rest) == 0 {
			return Parting{e.Index, None, name(e)}, true
		}
		if !alikeElsewhere(e, rest[0]) {
			return Parting{e.Index, rest[0].Index, name(e)}, true
		}
		theirs[e.Worker] = rest[1:]
	}
	for _, e := range twin.Events {
		if slices.ContainsFunc(theirs[e.Worker], func(o histories.Event) bool { return o.Index == e.Index }) {
			return Parting{None, e.Index, name(e)}, true
		}
	}
	return p, false
}

// alikeElsewhere reports whether two events tell the same of two locks: faults of commands have the command that they meet, which each
// lock has its own of, and fencing tokens are of locks that have them.
func alikeElsewhere(a, b histories.Event) bool {
	for _, e := range []*histories.Event{&a, &b} {
		e.Token = 0
		if e.Process == histories.Nemesis {
			e.Value = ""
		}
	}
	a.Process, b.Process = 0, 0 // they are numbered anew after each call of unknown outcome
	return Alike(a, b)
}

// How much of a run is told around the event at which it parts from its twin.
const (
	sharedRows = 3 // before it
	partedRows = 8 // from it on
)

// Around are the rows of a run around an event: some before it, and more from it on. at is the place of its own row among them.
func Around(r Run, event int) (rows []Row, at int) {
	all := NewTimeline(r).Rows(r.Events)
	if event == None {
		return all[max(0, len(all)-sharedRows):], None
	}
	at = slices.IndexFunc(all, func(row Row) bool { return row.First <= event && event <= row.Last })
	if at < 0 {
		return nil, None
	}
	from := max(0, at-sharedRows)
	return all[from:min(len(all), at+partedRows)], at - from
}
