package report

import (
	"slices"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/anomalies"
	"github.com/lockbench/lockbench/internal/words"
)

// Anomalies are those that a run shows and that have a name, the nearest first, each once.
func Anomalies(r Run) (all []anomalies.Anomaly) {
	for _, c := range r.Judgement.Causes {
		if a, ok := anomalies.Find(c.Anomaly); ok && !slices.Contains(all, a) {
			all = append(all, a)
		}
	}
	return all
}

// PartingText says where a run and its twin part.
func PartingText(r Run, p Parting) string {
	in := r.Language
	if p.Event == None {
		return in.Sayf("They part where the history of %s ends for %s, and %s goes on.", show(r.Lock), p.Who, show(r.Twin.Lock))
	}
	at, other := instantOf(r, p.Event), in.Sayf("the other history has ended for %s", p.Who)
	if p.Twin != None {
		other = in.Sayf("%s has event %d there", show(r.Twin.Lock), p.Twin)
	}
	return in.Sayf("They part at event %d, at %s: up to there each client did the same, and it ended the same; %s.", p.Event, at, other)
}

// instantOf is when an event of a run was.
func instantOf(r Run, event int) string {
	i := slices.IndexFunc(r.Events, func(e histories.Event) bool { return e.Index == event })
	return words.Seconds(r.Events[i].Time)
}
