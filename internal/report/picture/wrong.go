package picture

import (
	"slices"
	"strings"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/report"
	"github.com/lockbench/lockbench/internal/story"
)

// A wrong is a violation as it is drawn: properties that the same events prove are one.
type wrong struct {
	name     string // the properties
	story    string
	witness  map[int]bool
	from, to time.Duration // what is hatched; the same if it is an instant
	lanes    map[string]bool
	said     string   // in few words, over what is hatched
	lost     int      // the event whose update was lost; -1: none
	also     []string // what else is violated
	drawn    bool     // an event of it is in the picture
}

// wrongs are the violations, in the order of the report.
func (b *builder) wrongs() []wrong {
	var all []wrong
	for _, v := range report.Violations(b.run.Results) {
		w := b.wrong(v.Results[0])
		for _, res := range v.Results[1:] {
			w.name += b.in.Say(", ") + b.in.Say(report.Label(res.Property))
		}
		all = append(all, w)
	}
	for i, w := range all {
		b.markLost(w.lost)
		var others []string
		for j, o := range all {
			if j != i {
				others = append(others, o.name)
			}
		}
		if len(others) > 0 {
			all[i].also = wrap(b.in.Sayf("Also violated: %s.", b.in.List(others)), (calloutWidth-24)/1.1)
		}
	}
	return all
}

func (b *builder) wrong(res checker.Result) wrong {
	w := wrong{name: b.in.Say(report.Label(res.Property)), story: report.Prose(res.Story), witness: map[int]bool{}, lanes: map[string]bool{}, lost: -1}
	first := true
	for _, index := range slices.Sorted(slices.Values(res.Witness)) {
		w.witness[index] = true
		i := place(b.run.Events, index)
		if i < 0 || !b.drawn[index] {
			continue
		}
		e := b.run.Events[i]
		w.drawn = true
		if first {
			w.from, w.to, first = e.Time, e.Time, false
		}
		w.from, w.to = min(w.from, e.Time), max(w.to, e.Time)
		if e.Process != histories.Nemesis {
			w.lanes[histories.WorkerName(e.Worker)] = true
		}
	}
	if left := b.letGo(res); left > w.from && left < w.to {
		w.from = left
	}
	if from, to, said := b.overlap(res); said != "" {
		w.from, w.to, w.said = from, to, said
	}
	w.lost = b.lostUpdate(res)
	if w.lost >= 0 {
		w.said = b.in.Say("update lost")
	}
	return w
}

// letGo is when the last of the holders whom a violation names let go of the key that others
// then waited for in vain; 0 if that is not what it is about.
func (b *builder) letGo(res checker.Result) time.Duration {
	last := time.Duration(0)
	if res.Property != checker.DeadlockFreedom && res.Property != checker.Availability {
		return last
	}
	for _, h := range b.story.Beliefs() {
		if !h.Open() && (slices.Contains(res.Witness, h.Invoked.Event) || slices.Contains(res.Witness, h.Returned.Event)) {
			last = max(last, h.Ended.Time)
		}
	}
	return last
}

// markLost says at a write that its update was lost.
func (b *builder) markLost(event int) {
	lost := b.in.Say(" · lost")
	for _, l := range b.all {
		for _, m := range l.marks {
			if event >= 0 && (m.event == event || m.last == event) && !strings.HasSuffix(m.label, lost) {
				m.label += lost
			}
		}
	}
}

// overlap is when two whom a violation names both believed that they hold a key.
func (b *builder) overlap(res checker.Result) (from, to time.Duration, said string) {
	switch res.Property {
	case checker.StrictExclusion, checker.LeaseExclusion, checker.LeaseHonoured, checker.Ownership:
	default:
		return 0, 0, ""
	}
	var named []span
	for _, s := range b.spans {
		if slices.Contains(res.Witness, s.belief.Returned.Event) || slices.Contains(res.Witness, s.belief.Invoked.Event) {
			named = append(named, s)
		}
	}
	for i, s := range named {
		for _, o := range named[:i] {
			if s.belief.Key != o.belief.Key || s.belief.Shares(o.belief.Hold) {
				continue
			}
			from, to := max(s.from, o.from), min(s.to, o.to)
			if from < to {
				return from, to, b.in.Sayf("%s and %s both believe that they hold it", o.mark.who, s.mark.who)
			}
		}
	}
	return 0, 0, ""
}

// overwrites reports whether the last event of a witness is a write over a version that its attempt had not seen.
func (b *builder) overwrites(witness []int) bool {
	if len(witness) == 0 {
		return false
	}
	at := place(b.run.Events, slices.Max(witness))
	if at < 0 || b.run.Events[at].F != histories.Write || b.run.Events[at].Type != histories.OK {
		return false
	}
	write, seen, known := b.run.Events[at], int64(0), false
	for _, e := range b.run.Events[:at] {
		switch {
		case e.Attempt != write.Attempt || e.Type != histories.OK:
		case e.F == histories.Read:
			seen, known = e.Version, true
		case e.F == histories.Write:
			seen, known = e.Version+1, true
		}
	}
	return known && write.Version > seen
}

// lostUpdate is the write whose update another of the witness overwrote; -1 if there is none.
func (b *builder) lostUpdate(res checker.Result) int {
	if res.Property != checker.CounterSafety && (res.Property != checker.ResourceSafety || !b.overwrites(res.Witness)) {
		return -1
	}
	writes := 0
	lost := -1
	for _, index := range res.Witness {
		if i := place(b.run.Events, index); i >= 0 && b.run.Events[i].Type == histories.OK && story.Section(b.run.Events[i].F) && b.run.Events[i].F != histories.Read {
			if writes++; writes == 1 {
				lost = index
			}
		}
	}
	if writes < 2 {
		return -1
	}
	return lost
}
