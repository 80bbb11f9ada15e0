// Package causes derives from the record of a run why properties failed in it: which command, at
// which event, made, outlived, overwrote or removed whose key.
//
// It judges nothing. What it says rests on events and commands that it names; what cannot be
// derived from them is told as what was seen.
package causes

import (
	"cmp"
	"slices"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
)

// Run is what causes are derived from. Its zero value has none.
type Run struct {
	Events []histories.Event
	// Exchanges are the commands in the order of histories.Exchange.Compare. Nil: they were not
	// kept, and what is seen is all that can be told.
	Exchanges []histories.Exchange
	Report    checker.Report
	// Names are the names of the keys of servers under which the lock on a key is kept. Nil:
	// they are learned from what granted acquires wrote.
	Names func(key string) []string
	// ClientFaults are the faults that cannot change what a server holds.
	ClientFaults []histories.F
	// SparingFaults are those that hit a server and take no key away from it.
	SparingFaults []histories.F
	// InstantFaults are those of a server that take keys away when they begin and never later.
	InstantFaults []histories.F
	// Threads is how many clients, from the first on, are threads of one process: their commands
	// are recorded as those of the first. 0: none are.
	Threads int
	// Masters is how many masters the lock is kept on; 0 means 1.
	Masters int
}

// Of returns the causes of all properties that failed, the nearest first. Each of them is
// explained by exactly one cause.
func Of(run Run) []checker.Cause {
	var found []checker.Cause
	var s *scene
	for _, res := range run.Report.Results {
		if res.Verdict != checker.Fail {
			continue
		}
		if s == nil {
			s = newScene(run)
		}
		c := s.explain(res)
		if c == nil {
			c = seen(res)
		}
		c.Properties = []checker.Property{res.Property}
		found = merge(found, *c)
	}
	slices.SortStableFunc(found, func(a, b checker.Cause) int { return cmp.Compare(a.Rank(), b.Rank()) })
	return found
}

// seen tells what was seen of a failure.
func seen(res checker.Result) *checker.Cause {
	return &checker.Cause{Kind: checker.Seen, Sentence: res.Story, Events: slices.Clone(res.Witness)}
}

// merge adds a cause, or its properties to the one that is the same.
func merge(all []checker.Cause, c checker.Cause) []checker.Cause {
	for i := range all {
		if same(all[i], c) {
			all[i].Properties = append(all[i].Properties, c.Properties...)
			return all
		}
	}
	return append(all, c)
}

// same reports whether two causes rest on the same decisive command or, without any, on the same
// events.
func same(a, b checker.Cause) bool {
	switch {
	case a.Kind != b.Kind || !a.Derived():
		return false
	case len(a.Commands) == 0 || len(b.Commands) == 0:
		return slices.Equal(a.Events, b.Events) && len(a.Commands) == len(b.Commands)
	}
	return a.Commands[0].Exchange == b.Commands[0].Exchange
}

// explain derives why a property failed, or returns nil.
func (s *scene) explain(res checker.Result) *checker.Cause {
	switch res.Property {
	case checker.Load:
		return s.spinning(res)
	case checker.Fencing:
		return s.tokens(res)
	}
	if s.Exchanges == nil && res.Property != checker.ResourceSafety {
		return nil
	}
	switch res.Property {
	case checker.StrictExclusion, checker.LeaseExclusion, checker.LeaseHonoured, checker.CounterSafety:
		return s.overlap(res)
	case checker.ResourceSafety:
		return cmp.Or(s.overlap(res), s.unseen(res))
	case checker.Ownership:
		return s.ownership(res)
	case checker.TruthfulReplies:
		return s.replies(res)
	case checker.Reentrancy:
		return cmp.Or(s.twice(res), s.sameName(), s.overlap(res))
	case checker.DeadlockFreedom, checker.Availability:
		return s.refusals(res)
	}
	return nil
}

// overlap explains that two attempts of the witness held the lock at once.
func (s *scene) overlap(res checker.Result) *checker.Cause {
	var holds []*histories.Hold
	attempts := slices.Clone(res.Attempts)
	for _, o := range s.witnessed(res) {
		attempts = append(attempts, o.Invoke.Attempt)
	}
	for _, attempt := range attempts {
		if h := s.holds[attempt]; h != nil && h.Outcome == histories.OK && !slices.Contains(holds, h) {
			holds = append(holds, h)
		}
	}
	slices.SortFunc(holds, func(a, b *histories.Hold) int { return cmp.Compare(a.Returned.Event, b.Returned.Event) })
	var best *checker.Cause
	for i, a := range holds {
		for _, b := range holds[i+1:] {
			if a.Key != b.Key || a.Shares(*b) || !a.Open() && a.Ended.Event < b.Returned.Event {
				continue
			}
			if c := s.beside(a, b); c != nil && (best == nil || nearness(c.Kind) < nearness(best.Kind)) {
				best = c
			}
		}
	}
	return best
}
