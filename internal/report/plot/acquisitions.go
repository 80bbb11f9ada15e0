package plot

import (
	"cmp"
	"slices"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/report"
	"github.com/lockbench/lockbench/internal/story"
	"github.com/lockbench/lockbench/internal/words"
)

// manyGaps is how many gaps are drawn, the longest.
const manyGaps = 40

func acquisitions(s *subject) report.Plot {
	const name = "acquisitions"
	in := s.Language
	title := in.Say("Acquisitions over time")
	var grants []time.Duration
	asked := false
	for _, o := range s.calls {
		if o.Invoke.F != histories.Acquire {
			continue
		}
		asked = true
		if o.Outcome() == histories.OK {
			grants = append(grants, o.Complete.Time)
		}
	}
	if !asked {
		return report.Plot{Name: name, Title: title, Summary: in.Say("Nobody asked for a lock.")}
	}
	slices.Sort(grants)
	wanted := s.wanted()
	found := gaps(wanted)
	c := newCanvas(s)
	c.faultRows()
	if len(found) > 0 {
		longest := found[0]
		var spans []span
		for i, g := range found {
			if i < manyGaps && (g.length() >= longest.length()/3) {
				spans = append(spans, span{s.x(g.from), s.x(g.to)})
			}
		}
		c.row("gap", in.Sayf("nobody got it, at most for %s", human(longest.length())), s.x(longest.from), joined(spans))
	}
	heading := in.Say("acquisitions per second")
	if len(grants) < fewestForPace {
		heading = in.Say("acquisitions, each")
	}
	if len(grants) > 0 {
		c.paces(heading, []series{{heading, grants}})
	}
	return c.plot(name, title, in.Sayf("%s in %s%s%s.", in.Count(len(grants), "acquisition"), s.length(), s.tellGap(found), s.tellRecovery(wanted, grants)))
}

// A gap is a time in which somebody wanted a key all the while, and nobody was granted it.
type gap struct{ from, to time.Duration }

func (g gap) length() time.Duration { return g.to - g.from }

// A demand is when somebody wanted a key, and when somebody was granted it. Its spans may
// overlap.
type demand struct {
	spans   []gap
	granted []time.Duration
}

// wanted returns the demand for each key.
//
// A client wants a key from the invocation of an acquire to its return, and on to its next acquire
// of that key, if that one is refused or of unknown outcome and the next comes within the lease
// that it asked for. A call that never returned wants until its client crashed, or the run ended.
func (s *subject) wanted() map[string]*demand {
	type key struct {
		name   string
		worker int
	}
	wanted := map[string]*demand{}
	next := map[key]time.Duration{}
	crashes := map[int][]time.Duration{}
	for i := range s.Events {
		if e := &s.Events[i]; e.F == histories.Crash {
			crashes[e.Worker] = append(crashes[e.Worker], e.Time)
		}
	}
	for _, o := range slices.Backward(s.calls) {
		if o.Invoke.F != histories.Acquire || o.Complete.Invalid() {
			continue
		}
		k := key{o.Invoke.Key, o.Invoke.Worker}
		if wanted[k.name] == nil {
			wanted[k.name] = &demand{}
		}
		of := wanted[k.name]
		w := gap{o.Invoke.Time, s.last}
		switch {
		case !o.Done:
			if i := slices.IndexFunc(crashes[k.worker], func(t time.Duration) bool { return t >= w.from }); i >= 0 {
				w.to = crashes[k.worker][i]
			}
		case o.Complete.Type == histories.OK:
			w.to = o.Complete.Time
			of.granted = append(of.granted, w.to)
		default:
			w.to = o.Complete.Time
			if again, ok := next[k]; ok && again-w.to <= o.Invoke.TTL {
				w.to = max(w.to, again)
			}
		}
		of.spans = append(of.spans, w)
		next[k] = o.Invoke.Time
	}
	return wanted
}

// gaps returns the gaps of all keys, the longest first.
func gaps(wanted map[string]*demand) []gap {
	var all []gap
	for _, d := range wanted {
		all = append(all, d.gaps()...)
	}
	slices.SortFunc(all, func(a, b gap) int {
		return cmp.Or(cmp.Compare(b.length(), a.length()), cmp.Compare(a.from, b.from))
	})
	return all
}

// gaps cuts the time in which the key was wanted at the instants at which it was granted.
func (d *demand) gaps() []gap {
	at := slices.Sorted(slices.Values(d.granted))
	var parts []gap
	for _, whole := range union(d.spans) {
		for len(at) > 0 && at[0] <= whole.to {
			if at[0] > whole.from {
				parts = append(parts, gap{whole.from, at[0]})
				whole.from = at[0]
			}
			at = at[1:]
		}
		if whole.to > whole.from {
			parts = append(parts, whole)
		}
	}
	return parts
}

// union returns spans in order, with those made one that overlap or touch.
func union(spans []gap) []gap {
	spans = slices.Clone(spans)
	slices.SortFunc(spans, func(a, b gap) int { return cmp.Compare(a.from, b.from) })
	var all []gap
	for _, s := range spans {
		if n := len(all); n > 0 && s.from <= all[n-1].to {
			all[n-1].to = max(all[n-1].to, s.to)
			continue
		}
		all = append(all, s)
	}
	return all
}

func (s *subject) tellGap(found []gap) string {
	if len(found) == 0 {
		return ""
	}
	return s.Language.Sayf("; the longest time in which somebody wanted a lock and nobody got it was %s, from %s on",
		human(found[0].length()), words.Seconds(found[0].from))
}

// tellRecovery tells how long, at worst, it took from the end of a fault, or from when somebody
// wanted a lock then, to the next acquisition. The grants, of all keys together, are in order.
func (s *subject) tellRecovery(wanted map[string]*demand, grants []time.Duration) string {
	var spans []gap
	for _, d := range wanted {
		spans = append(spans, d.spans...)
	}
	spans = union(spans)
	var worst time.Duration
	var of story.Fault
	after, never := 0, 0
	for _, o := range s.faults {
		if !o.Over() {
			continue
		}
		from := o.Complete.Time
		next, _ := slices.BinarySearchFunc(spans, from, func(g gap, t time.Duration) int { return cmp.Compare(g.to, t) })
		if next == len(spans) {
			continue // nobody wanted it any more
		}
		from = max(from, spans[next].from)
		i, _ := slices.BinarySearch(grants, from)
		if i == len(grants) {
			never++
			continue
		}
		if d := grants[i] - from; after == 0 || d > worst {
			worst, of = d, o
		}
		after++
	}
	text := ""
	if after > 0 {
		text = s.Language.Sayf("; recovery took at most %s (after %s, which ended at %s, from the first who wanted a lock to the next acquisition)",
			human(worst), faultName(of), words.Seconds(of.Complete.Time))
	}
	if never > 0 {
		text += s.Language.Sayf("; none came after the end of %s", s.Language.Count(never, "fault"))
	}
	return text
}
