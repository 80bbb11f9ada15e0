package report

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/story"
)

// How much a sketch shows, so that it stays a few lines.
const (
	mostLanes  = 5
	mostMarks  = 3
	faultRows  = 3
	crowdedPer = 3 // columns for each instant, below which some are left out
)

// sketch is what is drawn of violations: the attempts of their witnesses, and the faults that
// were active meanwhile.
type sketch struct {
	results []checker.Result // that it proves
	first   int              // event
	last    int
	events  []histories.Event // of the attempts, in order
	beliefs []story.Belief    // in them, as far as they go
	faults  []span
	end     time.Duration // of the last event
}

// span is a fault, or what an audit saw.
type span struct {
	from, to instant // to has no event while there is no end
	label    string
}

// sketched returns what there is to draw of the first violation, together with the others
// that are about the same few attempts. It returns false if a drawing says nothing of it.
func sketched(results []checker.Result, told *story.Story, columns int) (sketch, bool) {
	var best sketch
	for _, res := range results {
		if !draws(res) {
			continue
		}
		s := gather(append(slices.Clone(best.results), res), told)
		switch {
		case len(best.results) == 0 && !s.tells():
			return sketch{}, false
		case len(best.results) == 0:
			best = s
		case len(s.lanes()) <= mostLanes && len(Violations(s.results)) <= mostMarks && len(s.instants(true))*crowdedPer <= columns:
			best = s
		}
	}
	return best, len(best.results) > 0
}

// draws reports whether a result is a violation by calls in time. How many commands a wait has
// cost, and models without attempts, cannot be seen.
func draws(res checker.Result) bool {
	w := res.Window
	return res.Verdict == checker.Fail && w != nil && w.First <= w.Last && len(res.Witness) > 0 && len(res.Attempts) > 0 &&
		res.Property != checker.Load && res.Property != checker.Linearizability
}

// gather takes from a run what is drawn of results.
func gather(results []checker.Result, told *story.Story) sketch {
	s := sketch{results: results, first: results[0].Window.First}
	attempts, witness, workers := map[uint64]bool{}, map[int]bool{}, map[int]bool{}
	for _, res := range results {
		s.first, s.last = min(s.first, res.Window.First), max(s.last, res.Window.Last)
		for _, a := range res.Attempts {
			attempts[a] = true
		}
		for _, w := range res.Witness {
			witness[w] = true
		}
	}
	for _, e := range told.Events {
		if e.Index > s.last {
			break
		}
		switch {
		case e.Process == histories.Nemesis:
			if e.F == histories.Audit && witness[e.Index] {
				now := instant{e.Index, e.Time}
				s.faults = append(s.faults, span{now, now, spanLabel(e)})
			}
		case attempts[e.Attempt], e.F == histories.Crash && workers[e.Worker]:
			workers[e.Worker] = true
			s.first = min(s.first, e.Index)
			s.events = append(s.events, e)
		default:
			continue
		}
		s.end = e.Time
	}
	s.beliefs = story.Of(s.events, nil).Beliefs()
	for _, f := range told.Faults() {
		at := span{from: instant{f.Invoke.Index, f.Invoke.Time}, to: instant{event: -1}, label: spanLabel(f.Invoke)}
		if f.Over() && f.Complete.Index <= s.last {
			at.to = instant{f.Complete.Index, f.Complete.Time}
		}
		if at.from.event <= s.last && (at.to.event < 0 || at.to.event >= s.first) {
			s.faults = append(s.faults, at)
		}
	}
	slices.SortStableFunc(s.faults, func(a, b span) int { return cmp.Compare(a.from.event, b.from.event) })
	return s
}

// spanLabel names a fault or an audit, and whom it is about.
func spanLabel(e histories.Event) string {
	return strings.TrimSpace(brief(string(e.F), 24) + " " + brief(e.Node, 24))
}

// tells reports whether there is more to see than one call.
func (s sketch) tells() bool {
	return len(s.events) > 1 && (len(s.beliefs) > 0 || len(s.lanes()) > 1 || len(s.faults) > 0)
}

// lane is a line of one worker: attempts that follow each other.
type lane struct {
	worker   int
	last     int // event
	attempts map[uint64]bool
}

// lanes puts attempts of one worker into one line unless they overlap.
func (s sketch) lanes() []lane {
	ends := map[uint64]int{}
	for _, e := range s.events {
		ends[e.Attempt] = e.Index
	}
	var lanes []lane
	placed := map[uint64]bool{}
	for _, e := range s.events {
		if placed[e.Attempt] || e.Attempt == 0 {
			continue
		}
		placed[e.Attempt] = true
		at := slices.IndexFunc(lanes, func(l lane) bool { return l.worker == e.Worker && l.last < e.Index })
		if at < 0 {
			if len(lanes) > mostLanes { // one more shows that there are more
				continue
			}
			at = len(lanes)
			lanes = append(lanes, lane{worker: e.Worker, attempts: map[uint64]bool{}})
		}
		lanes[at].last = ends[e.Attempt]
		lanes[at].attempts[e.Attempt] = true
	}
	slices.SortStableFunc(lanes, func(a, b lane) int { return cmp.Compare(a.worker, b.worker) })
	return lanes
}

// instant is a point of the time axis.
type instant struct {
	event int // -1: no event, but the end of a lease
	at    time.Duration
}

// instants are the points that the picture needs, in order. A thin picture leaves out what
// happened in sections and proves nothing, and the ends of faults.
func (s sketch) instants(thin bool) []instant {
	cited := map[int]bool{}
	for _, res := range s.results {
		for _, w := range res.Witness {
			cited[w] = true
		}
	}
	var all []instant
	for _, e := range s.events {
		if isCall(e.F) || cited[e.Index] || e.Single() && e.F != histories.Waited || !thin && e.Type != histories.Invoke {
			all = append(all, instant{e.Index, e.Time})
		}
	}
	for _, f := range s.faults {
		if f.from.event >= s.first {
			all = append(all, f.from)
		}
		if f.to.event >= 0 && !thin {
			all = append(all, f.to)
		}
	}
	all = append(all, s.deadlines()...)
	slices.SortFunc(all, func(a, b instant) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.event, b.event)) })
	return slices.Compact(all)
}

// isCall reports whether both ends of a call are drawn, and not just its end.
func isCall(f histories.F) bool { return f == histories.Acquire || f == histories.Release }

// deadlines are the ends of leases under holders who went on believing.
func (s sketch) deadlines() []instant {
	found := map[time.Duration]bool{}
	for _, b := range s.beliefs {
		if at, lapsed := b.Lapse(s.end); lapsed {
			found[at] = true
		}
	}
	var all []instant
	for _, d := range slices.Sorted(maps.Keys(found)) {
		all = append(all, instant{-1, d})
	}
	return all
}
