package picture

import (
	"slices"
	"sort"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/report"
	"github.com/lockbench/lockbench/internal/story"
)

// around is how many events are drawn before and behind what matters of a long history.
const around = 24

// window chooses at most so many events to draw, in their order, and says which they are.
func window(r report.Run, most int) ([]histories.Event, string) {
	events, in := r.Events, r.Language
	if r.InPart() && len(events) <= most {
		return events, in.Sayf("%d of the run's %s: the calls that prove violations, and the faults up to them.", len(events), in.Count(r.Total, "event"))
	}
	if len(events) <= most {
		return events, in.Sayf("All %s of the run.", in.Count(len(events), "event"))
	}
	of := func(n int, which string) string {
		return in.Sayf("%d of the run's %s: %s.", n, in.Count(r.Recorded(), "event"), which)
	}
	if v := report.Proven(r.Results); len(v) > 0 {
		name := in.Say(report.Label(v[0].Property))
		which := in.Sayf("those around the first violation, of %s", name)
		first, last := extent(events, v[0])
		if last-first < most {
			room := min(around, (most-(last-first+1))/2)
			part := events[max(first-room, 0):min(last+1+room, len(events))]
			return part, of(len(part), which)
		}
		part := proof(events[first:last+1], v[0], most)
		return part, of(len(part), in.Sayf("the calls that prove the first violation, of %s, and the faults meanwhile", name))
	}
	first, which := 0, in.Say("the first ones")
	if hit := struck(events, r.Story().Beliefs()); hit >= 0 {
		first, which = max(hit-around, 0), in.Say("those around the first fault that hit a held lock")
	}
	part := events[first:min(first+most, len(events))]
	return part, of(len(part), which)
}

// place finds an event by its index; -1 if there is none. A damaged history may lack some.
func place(events []histories.Event, index int) int {
	if index >= 0 && index < len(events) && events[index].Index == index {
		return index
	}
	i := sort.Search(len(events), func(i int) bool { return events[i].Index >= index })
	if i < len(events) && events[i].Index == index {
		return i
	}
	return -1
}

// extent is where a violation's window begins and ends among events.
func extent(events []histories.Event, res checker.Result) (first, last int) {
	if w := res.Window; w != nil {
		first, last = place(events, w.First), place(events, w.Last)
		if first >= 0 && first <= last {
			return first, last
		}
	}
	first, last = len(events), -1
	for _, index := range res.Witness {
		if i := place(events, index); i >= 0 {
			first, last = min(first, i), max(last, i)
		}
	}
	if last < 0 {
		return 0, 0
	}
	return first, last
}

// proof keeps the events of a violation's attempts and faults, at most so many: the first and
// the last of them, between which the violation is.
func proof(events []histories.Event, res checker.Result, most int) []histories.Event {
	attempts, witness := map[uint64]bool{}, map[int]bool{}
	for _, a := range res.Attempts {
		attempts[a] = true
	}
	for _, w := range res.Witness {
		witness[w] = true
	}
	var part, faults []histories.Event
	for _, e := range events {
		switch {
		case witness[e.Index], e.Attempt != 0 && attempts[e.Attempt]:
			part = append(part, e)
		case e.Process == histories.Nemesis && len(faults) < most/2:
			faults = append(faults, e)
		}
	}
	if room := most - len(faults); len(part) > room {
		part = slices.Concat(part[:room/2], part[len(part)-room/2:])
	}
	part = append(part, faults...)
	slices.SortStableFunc(part, func(a, b histories.Event) int { return a.Index - b.Index })
	return part
}

// struck is the first fault that began while somebody believed to hold the lock; -1 if none did.
func struck(events []histories.Event, beliefs []story.Belief) int {
	held := make([]int, len(events)+1) // how many more are held from an event on
	for _, h := range beliefs {
		if from := place(events, h.Returned.Event); from >= 0 {
			held[from]++
			if to := place(events, h.Ended.Event); !h.Open() && to >= 0 {
				held[to]--
			}
		}
	}
	now := 0
	for i, e := range events {
		now += held[i]
		if now > 0 && e.Process == histories.Nemesis && e.Type == histories.Invoke {
			return i
		}
	}
	return -1
}
