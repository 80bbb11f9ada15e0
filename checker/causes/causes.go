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
	// Exchanges are the commands in the order of histories.SortExchanges. None: they were not
	// kept, and what is seen is all that can be told.
	Exchanges []histories.Exchange
	Report    checker.Report
	// Names are the names of the keys of servers under which the lock on a key is kept. Nil:
	// they are learned from what granted acquires wrote.
	Names func(key string) []string
	// ClientFaults are the faults that cannot change what a server holds.
	ClientFaults []histories.F
	// Masters is how many masters the lock is kept on; 0 means 1.
	Masters int
}

// Of returns the causes of all properties that failed, the nearest first. Each of them is
// explained by exactly one cause.
func Of(run Run) []checker.Cause {
	var found []checker.Cause
	for _, res := range run.Report.Results {
		if res.Verdict == checker.Fail {
			found = append(found, seen(res))
		}
	}
	slices.SortStableFunc(found, func(a, b checker.Cause) int { return cmp.Compare(a.Rank(), b.Rank()) })
	return found
}

// seen tells what was seen of a failure.
func seen(res checker.Result) checker.Cause {
	return checker.Cause{Kind: checker.Seen, Properties: []checker.Property{res.Property}, Sentence: res.Story, Events: slices.Clone(res.Witness)}
}
