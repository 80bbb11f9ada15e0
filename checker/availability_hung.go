package checker

import (
	"fmt"
	"strings"

	"github.com/lockbench/lockbench/histories"
)

// hung is the first call that did not return within its limit, or that panicked, or nil. The
// limit is the end of the context that the call was given, and ten seconds more; closing a lock
// has five. The run ends with it. Where the call stands is told as it was found, the innermost
// function first.
func (r *record) hung() *conflict {
	for _, e := range r.Incidents {
		if e.F != histories.Hung {
			continue
		}
		how, where, _ := strings.Cut(e.Err, "\n")
		call := fmt.Sprintf("%s's %s", histories.WorkerName(e.Worker), e.Value)
		if e.Key != "" {
			call += " of " + e.Key
		}
		if e.Value == "close" {
			call = fmt.Sprintf("Closing the lock of %s", histories.WorkerName(e.Worker))
		}
		story := fmt.Sprintf("%s %s%s.", call, how, standing(where))
		return &conflict{
			witness: []int{e.Index}, story: story,
			frame: frame{window: &Window{First: e.Index, Last: e.Index, From: e.Time, To: e.Time}, from: e.Time, to: e.Time, events: []histories.Event{e}},
		}
	}
	return nil
}

// standing tells where a goroutine stands.
func standing(stack string) string {
	if stack == "" {
		return ""
	}
	state, frames := "", strings.Split(strings.TrimSpace(stack), "\n")
	if first, found := strings.CutSuffix(frames[0], ":"); found {
		state, frames = " ("+first+")", frames[1:]
	}
	for i := range frames {
		frames[i] = strings.TrimSpace(frames[i])
	}
	if len(frames) == 0 {
		return state
	}
	return ". It stands" + state + " in " + strings.Join(frames, ", called by ")
}
