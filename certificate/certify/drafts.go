package certify

import (
	"slices"

	"github.com/lockbench/lockbench/certificate"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
)

// A pattern is a kind of proof with the roles of its events.
type pattern struct {
	kind  string
	roles []string
}

// patterns are those that may prove a fail of a rule by the events of its witness alone.
func patterns(rule checker.Property) []pattern {
	unseen := pattern{certificate.ByUnseen, []string{"seen", "access", "other"}}
	alone := pattern{certificate.ByUnseen, []string{"seen", "access"}}
	stale := pattern{certificate.ByStale, []string{"shown", "write"}}
	twins := pattern{certificate.ByTwins, []string{"first", "second"}}
	switch rule {
	case checker.ResourceSafety:
		return []pattern{unseen, alone, stale}
	case checker.Fencing:
		return []pattern{{certificate.ByTokens, []string{"first", "second"}}, stale}
	case checker.CounterSafety:
		return []pattern{twins, {certificate.ByMissing, []string{"peak", "look"}}}
	case checker.SingleWinner:
		return []pattern{twins}
	}
	return nil
}

// draftsOf returns what may prove the verdicts of a report but by explanations, the best of each rule first. None of them
// has been held against the history.
func draftsOf(events []histories.Event, report checker.Report) (drafts []certificate.Verdict) {
	for _, res := range report.Results {
		if kind := passKind(res.Property); kind != "" && res.Verdict == checker.Pass {
			drafts = append(drafts, certificate.Verdict{Rule: string(res.Property), Verdict: certificate.Pass, Proof: kind})
		}
		if res.Verdict != checker.Fail || len(res.Witness) == 0 || slices.Max(res.Witness) >= len(events) {
			continue
		}
		switch res.Property {
		case checker.StrictExclusion, checker.LeaseExclusion, checker.LeaseHonoured:
			drafts = append(drafts, overlaps(events, res)...)
		default:
			for _, p := range patterns(res.Property) {
				for order := range orders(res.Witness) {
					if len(order) == len(p.roles) {
						drafts = append(drafts, draft(events, res.Property, p, order))
					}
				}
			}
		}
		if explainable(res) || res.Property == checker.Fencing { // if nothing else proves it
			drafts = append(drafts, byCalls(events, res, res.Attempts), byCalls(events, res, attemptsOn(events, slices.Max(res.Witness))))
		}
	}
	return drafts
}

// passKind is the kind of proof that a rule holds, but by explanations; empty if there is none.
func passKind(rule checker.Property) string {
	switch rule {
	case checker.StrictExclusion, checker.LeaseExclusion:
		return certificate.ByBeliefs
	case checker.ResourceSafety:
		return certificate.ByVersions
	}
	return ""
}

// byCalls is the draft that no order explains the calls of some attempts.
func byCalls(events []histories.Event, res checker.Result, attempts []uint64) certificate.Verdict {
	last := slices.Max(res.Witness)
	return certificate.Verdict{
		Rule: string(res.Property), Verdict: certificate.Fail, Proof: certificate.ByCalls, Key: events[last].Key,
		Attempts: slices.Compact(slices.Sorted(slices.Values(attempts))), Events: []certificate.Named{{Role: "last", Index: last}},
	}
}

// attemptsOn returns the attempts on the key of an event that begin before it, or the first of them if
// there are too many for a proof.
func attemptsOn(events []histories.Event, last int) (attempts []uint64) {
	const most = 20
	for _, e := range events[:last] {
		if e.F == histories.Acquire && e.Type == histories.Invoke && e.Key == events[last].Key && len(attempts) < most {
			attempts = append(attempts, e.Attempt)
		}
	}
	return attempts
}

// draft is the verdict that a pattern makes of some events.
func draft(events []histories.Event, rule checker.Property, p pattern, at []int) certificate.Verdict {
	v := certificate.Verdict{Rule: string(rule), Verdict: certificate.Fail, Proof: p.kind, Key: events[at[len(at)-1]].Key}
	for i, index := range at {
		v.Events = append(v.Events, certificate.Named{Role: p.roles[i], Index: index})
		if attempt := events[index].Attempt; !slices.Contains(v.Attempts, attempt) {
			v.Attempts = append(v.Attempts, attempt)
		}
	}
	return v
}

// orders yields the events of a witness in every order. There are few of them.
func orders(witness []int) func(func([]int) bool) {
	const most = 4
	return func(yield func([]int) bool) {
		if len(witness) <= most {
			permute(nil, witness, yield)
		}
	}
}

func permute(begun, rest []int, yield func([]int) bool) bool {
	if len(rest) == 0 {
		return yield(begun)
	}
	for i, index := range rest {
		others := slices.Delete(slices.Clone(rest), i, i+1)
		if !permute(append(slices.Clone(begun), index), others, yield) {
			return false
		}
	}
	return true
}

// overlaps are the drafts of a fail of an exclusion: with the events of the witness, and with the
// grant before it that counts last.
func overlaps(events []histories.Event, res checker.Result) []certificate.Verdict {
	last := slices.Max(res.Witness)
	rival := events[last].Attempt
	var held, from []int
	for _, index := range slices.Sorted(slices.Values(res.Witness)) {
		switch {
		case events[index].Attempt != rival:
			held = append(held, index)
		case index != last:
			from = append(from, index)
		}
	}
	if len(held) == 0 || len(from) > 1 {
		return nil
	}
	p := pattern{certificate.ByOverlap, slices.Repeat([]string{"held"}, len(held))}
	end := []int{last}
	if len(from) == 0 {
		p.roles = append(p.roles, "granted")
	} else {
		p.roles, end = append(p.roles, "from", "to"), []int{from[0], last}
	}
	drafts := []certificate.Verdict{draft(events, res.Property, p, slices.Concat(held, end))}
	if latest, ok := lastGrant(events, events[held[0]].Attempt, end[0]); ok && len(held) == 1 {
		drafts = append(drafts, draft(events, res.Property, p, slices.Concat([]int{latest}, end)))
	}
	return drafts
}

// lastGrant is the answer before an event to that acquire or extend of an attempt which was invoked last.
func lastGrant(events []histories.Event, attempt uint64, before int) (int, bool) {
	open := make(map[int]int) // by process
	latest, invoked := 0, -1
	for i := range events[:before] {
		e := &events[i]
		switch {
		case e.Attempt != attempt || e.F != histories.Acquire && e.F != histories.Extend:
		case e.Type == histories.Invoke:
			open[e.Process] = i
		case e.Type == histories.OK && open[e.Process] > invoked:
			latest, invoked = i, open[e.Process]
		}
	}
	return latest, invoked >= 0
}
