package checker

import (
	"context"
	"fmt"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/lockbench/lockbench/histories"
)

// reading turns the holds of a history into the sections of each key.
type reading func([]histories.Event, []histories.Hold) map[string][]section

// exclusion judges whether the sections of every key could be those of a mutex.
// Two engines decide it, and an answer counts only if both give it. If they
// contradict each other the checker is wrong, and that is an error.
type exclusion struct {
	read      reading
	interval  func([]section) (overlap, int)
	porcupine func(context.Context, []section, time.Duration) porcupine.CheckResult
}

func (x exclusion) judge(ctx context.Context, rec *record, opt Options) (Result, error) {
	res := Result{Engine: "porcupine+interval"}
	res.count(rec, histories.Acquire, histories.Release, histories.Extend,
		histories.Lost, histories.Abandon, histories.Crash)

	byKey := x.read(rec.events, rec.holds)
	var verdicts []Verdict
	var undecided string
	grants, overlaps := 0, 0
	for _, key := range sortedKeys(byKey) {
		sections := byKey[key]
		first, n := x.interval(sections)
		answer := x.porcupine(ctx, sections, opt.budget())
		grants += len(sections)
		switch {
		case answer == porcupine.Unknown:
			verdicts = append(verdicts, Unknown)
			undecided = fmt.Sprintf("The porcupine engine gave no answer on %s in its time; the interval engine found %s.", key, count(n, "overlap"))
		case answer == porcupine.Ok && n > 0, answer == porcupine.Illegal && n == 0:
			return res, fmt.Errorf("checker disagreement on %s: porcupine says %s, the interval engine found %s", key, answer, count(n, "overlap"))
		case n > 0:
			if overlaps == 0 {
				res.Witness = first.witness()
				res.Story = rec.tellOverlap(first)
			}
			overlaps += n
			verdicts = append(verdicts, Fail)
		default:
			verdicts = append(verdicts, Pass)
		}
	}

	res.Verdict = Merge(verdicts...)
	switch {
	case grants == 0:
		res.Story = "Nobody was granted a lock, so there was nothing to exclude."
	case res.Verdict == Unknown:
		res.Story = undecided
	case res.Verdict == Pass:
		res.Story = fmt.Sprintf("%s, and none came while another attempt was believed to hold the key.", count(grants, "grant"))
	case overlaps > 1:
		res.Story = paragraph(res.Story, fmt.Sprintf("In all, %s came while another attempt was believed to hold the key.", count(overlaps, "grant")))
	}
	return res, nil
}

// An overlap is a proof that two sections held one key at once: the second was
// granted while the first was believed in.
type overlap struct {
	first, second *section
}

// witness returns the events that prove both grants, in order.
func (o overlap) witness() []int {
	if o.second.surfaced {
		r, _ := accepted(o.second.hold)
		return []int{o.first.grant, r.Invoke.Index, r.Complete.Index}
	}
	return []int{o.first.grant, o.second.grant}
}

// tellOverlap tells an overlap in plain English.
func (r *record) tellOverlap(o overlap) string {
	first, second := histories.WorkerName(o.first.hold.Worker), histories.WorkerName(o.second.hold.Worker)
	if o.second.surfaced {
		return fmt.Sprintf("%s's acquire of %s had no known outcome, but its release answered OK at %s, so it had held the lock; %s held it from %s and believed so during all of that release; %s.",
			second, o.first.hold.Key, r.when(o.second.grant), first, r.when(o.first.grant), r.tellEnd(o.first))
	}
	got := "was granted it"
	if r.events[o.second.grant].F == histories.Extend {
		got = "had it extended"
	}
	if first == second {
		got += " again"
	}
	return fmt.Sprintf("%s held %s from %s and still believed so when %s %s at %s; %s.",
		first, o.first.hold.Key, r.when(o.first.grant), second, got, r.when(o.second.grant), r.tellEnd(o.first))
}

// tellEnd tells how the belief of a section ended.
func (r *record) tellEnd(s *section) string {
	name := histories.WorkerName(s.hold.Worker)
	switch s.ended {
	case histories.Release:
		return fmt.Sprintf("%s did not ask to release it before %s", name, seconds(s.hold.Ended.Time))
	case histories.Lost:
		return fmt.Sprintf("%s was not told that it was lost before %s", name, seconds(s.hold.Ended.Time))
	case histories.Abandon:
		return fmt.Sprintf("%s did not walk away before %s", name, seconds(s.hold.Ended.Time))
	case histories.Crash:
		return fmt.Sprintf("%s did not crash before %s", name, seconds(s.hold.Ended.Time))
	case deadline:
		return fmt.Sprintf("%s had been told that its lease ran until %s", name, seconds(s.until))
	}
	return fmt.Sprintf("%s had not given it up when the history ended at %s", name, r.when(len(r.events)-1))
}
