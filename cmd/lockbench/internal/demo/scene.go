package demo

import (
	"slices"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/harness"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/resource"
	"github.com/lockbench/lockbench/workloads/schedule"
)

// scene is one step as it was recorded, in no language.
type scene struct {
	step      schedule.Step // the zero value: what followed the last step
	at        time.Duration
	sent      []sent
	accesses  []access
	nodes     []harness.NodeState
	beliefs   []belief
	rivals    []rivals
	broken    []checker.Property // whose proof the step completes
	simulated bool               // a fault of the step only looks like one
	idle      string             // the client that would have to hold the lock, and does not
}

// access is what a client saw of the register, or did to it.
type access struct {
	client  string
	write   bool
	refused string // why; empty: it was not
	stale   bool   // it was, for its token
	value   string
	version int64 // that was read, or that the write replaced
	again   bool  // the client knew the register before, under the same lease
	seen    int64 // the version that it knew
}

// rivals are two who both believe that they hold the lock.
type rivals struct {
	first, second string
	ended         time.Duration // when the first one's lease did; 0: it goes on
}

// scenes cuts a run into its steps. The last scene is what followed them.
func scenes(res harness.Result) []scene {
	var all []scene
	var before harness.Snapshot
	holds := histories.Holds(res.Events)
	fences := res.Meta.Guard == resource.Fence.String() || res.Meta.Guard == resource.Epoch.String()
	for _, shot := range res.Album {
		s := scene{
			step: shot.Step, at: shot.At,
			sent:     news(before.Exchanges, shot.Exchanges),
			accesses: accesses(res.Events[:shot.Events], before.Events, fences),
			nodes:    shot.Nodes,
			beliefs:  beliefs(res.Events[:shot.Events], shot.At),
			rivals:   meet(holds, before.Events, shot.Events),
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
	case schedule.Read, schedule.Write, schedule.Release:
		return p.Who[0]
	}
	return ""
}

// accesses are those that ended among the events from an index on, to a register that fences or does not.
func accesses(events []histories.Event, from int, fences bool) []access {
	var all []access
	for i, e := range events {
		if i < from || e.Type != histories.OK && e.Type != histories.Fail || e.F != histories.Read && e.F != histories.Write {
			continue
		}
		a := access{
			client: histories.WorkerName(e.Worker), write: e.F == histories.Write, value: e.Value, version: e.Version,
		}
		if e.Type == histories.Fail {
			a.refused, a.stale = e.Err, fences && outdated(events[:i], e)
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

// outdated returns whether a register that fences refuses an access for its token: it has seen a higher one.
func outdated(before []histories.Event, e histories.Event) bool {
	return e.Token > 0 && slices.ContainsFunc(before, func(b histories.Event) bool {
		return b.Key == e.Key && b.Token > e.Token && b.Type == histories.OK && (b.F == histories.Read || b.F == histories.Write)
	})
}

// meet finds the grants among the events [from, to) that came while somebody else believed.
func meet(holds []histories.Hold, from, to int) []rivals {
	var all []rivals
	for _, h := range holds {
		if !h.Believed() || h.Returned.Event < from || h.Returned.Event >= to {
			continue
		}
		for _, o := range holds {
			if o.Attempt == h.Attempt || o.Key != h.Key || !o.Believed() || o.Shares(h) ||
				o.Returned.Event > h.Returned.Event || !o.Open() && o.Ended.Event < h.Returned.Event {
				continue
			}
			r := rivals{first: histories.WorkerName(o.Worker), second: histories.WorkerName(h.Worker)}
			if o.Deadline > 0 && o.Deadline <= h.Returned.Time {
				r.ended = o.Deadline
			}
			all = append(all, r)
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
