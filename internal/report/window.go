package report

import (
	"slices"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
)

// around is how many events are told before and behind what matters.
const around = 12

// window keeps of a long history what the first violation is about, or the first events, and
// says which they are: all that happened in the violation's window if that is not long, else
// the calls of its attempts there and the faults.
func window(events []histories.Event, report checker.Report) ([]histories.Event, string) {
	proven := Proven(report.Results)
	if len(proven) == 0 {
		return events[:min(2*around, len(events))], "the first"
	}
	res := proven[0]
	which := "those around the first violation of " + label(res.Property)
	if w := res.Window; w != nil && w.First <= w.Last && w.Last < len(events) {
		if w.Last-w.First < longStory {
			return events[max(w.First-around, 0):min(w.Last+around, len(events))], which
		}
		var part []histories.Event
		for _, e := range events[w.First : w.Last+1] {
			if e.Process == histories.Nemesis || slices.Contains(res.Attempts, e.Attempt) {
				part = append(part, e)
			}
		}
		if len(part) <= longStory {
			return part, "the calls that prove the first violation of " + label(res.Property) + ", and the faults meanwhile"
		}
	}
	first, last := res.Witness[0]-around, res.Witness[0]
	for _, w := range res.Witness {
		if w-res.Witness[0] < longStory {
			last = max(last, w)
		}
	}
	last = min(last+around, len(events))
	return events[min(max(first, 0), last):last], which
}
