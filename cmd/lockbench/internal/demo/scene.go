package demo

import (
	"slices"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/resource"
	"github.com/lockbench/lockbench/internal/schedule"
	"github.com/lockbench/lockbench/internal/story"
)

// scene is one step as it was recorded, in no language.
type scene struct {
	step      schedule.Step // the zero value: what followed the last step
	at        time.Duration
	events    []histories.Event // that were recorded in it
	sent      []sent
	exchanges []histories.Exchange // all that had crossed the wire by then
	accesses  []access
	nodes     []harness.NodeState
	beliefs   []belief
	meetings  []story.Meeting
	broken    []checker.Property // whose proof the step completes
	simulated bool               // a fault of the step only looks like one
	idle      string             // the client that would have to hold the lock, and does not
}

// access is what a client saw of the register, or did to it.
type access struct {
	client  string
	write   bool
	draw    bool   // the write takes the prize of a round of a lottery, whose number is value
	drawn   string // draw: who had taken it before; empty: nobody
	refused string // why; empty: it was not
	stale   bool   // it was, for its token
	done    bool   // it was, for what the register says that has been done
	value   string
	version int64 // that was read, or that the write replaced
	again   bool  // the client knew the register before, under the same lease
	seen    int64 // the version that it knew
}

// scenes cuts a run into its steps. The last scene is what followed them.
func scenes(res harness.Result) []scene {
	var all []scene
	var before harness.Snapshot
	told := story.Of(res.Events, res.Exchanges)
	renews := res.Config.Lock.Class().Renews
	fences := res.Meta.Guard == resource.Fence.String() || res.Meta.Guard == resource.Epoch.String()
	marks := res.Meta.Guard == resource.DoneMarker.String()
	for _, shot := range res.Snapshots {
		s := scene{
			step: shot.Step, at: shot.At,
			events: res.Events[before.Events:shot.Events],
			sent:   news(before.Exchanges, shot.Exchanges), exchanges: shot.Exchanges,
			accesses: accesses(res.Events[:shot.Events], before.Events, fences, marks),
			nodes:    shot.Nodes,
			beliefs:  beliefs(res.Events[:shot.Events], shot.At, renews),
			meetings: meetings(told, before.Events, shot.Events, renews),
			broken:   proven(res.Report, before.Events, shot.Events),

			simulated: shot.Simulated,
		}
		if shot.Events == before.Events && len(s.sent) == 0 {
			s.idle = holdersOnly(shot.Step)
		}
		all = append(all, s)
		before = shot
	}
	return all
}

// holdersOnly is the client of a step that only holders do, or empty.
func holdersOnly(p schedule.Step) string {
	switch p.Verb {
	case schedule.Read, schedule.Write, schedule.Release, schedule.Draw:
		return p.Who[0]
	}
	return ""
}

// accesses are those that ended among the events from an index on. fences says that the register refuses low tokens,
// and marks that whoever draws looks first whether the round has been drawn.
func accesses(events []histories.Event, from int, fences, marks bool) []access {
	var all []access
	for i, e := range events {
		draw := e.F == histories.Draw
		if i < from || e.Type != histories.OK && e.Type != histories.Fail || e.F != histories.Read && e.F != histories.Write && !draw {
			continue
		}
		a := access{
			client: histories.WorkerName(e.Worker), write: e.F == histories.Write || draw, draw: draw, value: e.Value, version: e.Version,
		}
		if e.Type == histories.Fail {
			a.refused, a.stale, a.done = e.Err, fences && outdated(events[:i], e), draw && marks
		}
		if draw {
			a.drawn = winner(events[:i], e)
		}
		for _, r := range events[:i] {
			switch {
			case r.Type != histories.OK || r.Attempt != e.Attempt:
			case r.F == histories.Read:
				a.seen, a.again = r.Version, true
			case r.F == histories.Write: // its own, which it knows of
				a.seen, a.again = r.Version+1, true
			}
		}
		all = append(all, a)
	}
	return all
}

// winner is the client that took the prize of e's round, or empty.
func winner(before []histories.Event, e histories.Event) string {
	for _, b := range before {
		if b.F == histories.Draw && b.Type == histories.OK && b.Key == e.Key && b.Value == e.Value {
			return histories.WorkerName(b.Worker)
		}
	}
	return ""
}

// outdated returns whether a register that fences refuses an access for its token: it has seen a higher one.
func outdated(before []histories.Event, e histories.Event) bool {
	return e.Token > 0 && slices.ContainsFunc(before, func(b histories.Event) bool {
		return b.Key == e.Key && b.Token > e.Token && b.Type == histories.OK && (b.F == histories.Read || b.F == histories.Write)
	})
}

// meetings are those at the grants among the events [from, to), each pair of clients once, however often they enter the lock. renews
// says that the lock renews its leases, so that the deadlines that were told are not their ends.
func meetings(told *story.Story, from, to int, renews bool) []story.Meeting {
	var all []story.Meeting
	for event := from; event < to; event++ {
		for _, m := range told.Meetings(event) {
			if slices.ContainsFunc(all, func(known story.Meeting) bool {
				return known.Holder.Worker == m.Holder.Worker && known.Granted.Worker == m.Granted.Worker
			}) {
				continue
			}
			if renews {
				m.Lapsed = 0
			}
			all = append(all, m)
		}
	}
	return all
}

// proven are the properties whose violation the events [from, to) complete the proof of.
func proven(report checker.Report, from, to int) []checker.Property {
	var all []checker.Property
	for _, res := range report.Results {
		if res.Verdict != checker.Fail || len(res.Witness) == 0 {
			continue
		}
		if last := slices.Max(res.Witness); last >= from && last < to {
			all = append(all, res.Property)
		}
	}
	return all
}
