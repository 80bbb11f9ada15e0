package checker

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/anishathalye/porcupine"
)

// explain finds the first answer that no order explains. Every beginning of a linearizable
// history is linearizable, so it lies where beginnings cease to be.
func (d datatype) explain(ctx context.Context, key string, actions []timedAction, opt Options) ([]int, string) {
	var answers []timedAction
	for _, x := range actions {
		if !x.unknown {
			answers = append(answers, x)
		}
	}
	slices.SortFunc(answers, func(a, b timedAction) int { return a.at - b.at })
	legal, illegal := -1, len(answers)-1
	for illegal-legal > 1 {
		middle := (legal + illegal) / 2
		switch d.check(ctx, actions, answers[middle].at, opt) {
		case porcupine.Ok:
			legal = middle
		case porcupine.Illegal:
			illegal = middle
		default: // no budget to look closer: what is known is true all the same
			legal = illegal
		}
	}
	culprit := answers[illegal]
	story := fmt.Sprintf("Process %d %s%s (events %d to %d), and no order of the calls up to then explains that.",
		culprit.process, d.tells(culprit.action), ofKey(key), culprit.call, culprit.at)
	before, lead := d.before(actions, culprit), "The last before it that could:"
	if core := d.core(ctx, actions, culprit); core != nil {
		before = slices.DeleteFunc(core, func(x timedAction) bool { return x.call == culprit.call })
		lead = "These calls alone rule it out, whatever became of the others:"
		if len(before) == 0 {
			lead, story = "", story+" No call up to then can have led to it."
		}
	}
	witness := []int{culprit.call, culprit.at}
	var told []string
	for _, x := range before {
		where := fmt.Sprintf("event %d, not known to have returned by then", x.call)
		if x.at <= culprit.at {
			where = fmt.Sprintf("events %d to %d", x.call, x.at)
			witness = append(witness, x.at)
		}
		witness = append(witness, x.call)
		told = append(told, fmt.Sprintf("process %d %s (%s)", x.process, d.tells(x.action), where))
	}
	if more := len(told) - mostTold; more > 0 {
		told = append([]string{fmt.Sprintf("%d more", more)}, told[more:]...)
	}
	if len(told) > 0 {
		story = paragraph(story, lead, strings.Join(told, "; ")+".")
	}
	slices.Sort(witness)
	return slices.Compact(witness), story
}

// mostTold is how many calls a story tells.
const mostTold = 5

// before returns the last calls that could change what the culprit met.
func (d datatype) before(actions []timedAction, culprit timedAction) []timedAction {
	const most = 3
	var found []timedAction
	for _, x := range slices.Backward(actions) {
		if x.call < culprit.at && x.call != culprit.call && !d.idle(x.action) {
			found = append(found, x)
		}
		if len(found) == most {
			break
		}
	}
	slices.Reverse(found)
	return found
}
