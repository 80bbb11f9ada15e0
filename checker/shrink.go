package checker

import (
	"context"
	"slices"

	"github.com/anishathalye/porcupine"
)

// A violation of linearizability is proven by few calls. The others cannot simply be left out:
// without the write of 3, any read of 3 is wrong. They are relaxed instead: as if nobody knew
// whether they happened. What was legal stays legal then, so that calls which contradict each
// other while all others are relaxed contradict each other in the history. And they do so alone,
// because a relaxed call may as well not have happened.
//
// So the more calls are relaxed, the less is proven. The search asks whether the culprit and the
// last calls before it are proof, twice as many each time, and then relaxes of those what can
// be. No call of what is left can be relaxed as well.

// Bounds of the search. They count steps of the model and not time, so that a witness does not
// depend on the machine.
const (
	shrinkSteps = 200_000   // of one question
	shrinkTotal = 3_000_000 // of all
)

// core returns the calls that prove that the culprit has an answer which no order explains, in
// order of invocations, with the culprit among them. It returns nil if they are not found within
// the bounds.
func (d datatype) core(ctx context.Context, actions []timedAction, culprit timedAction) []timedAction {
	var before []timedAction // what returned or began by then, the last to begin first
	place := make(map[int]int)
	for i := len(actions) - 1; i >= 0; i-- {
		x := actions[i]
		if x.call < culprit.at && x.call != culprit.call && x.at < culprit.at {
			place[x.call] = len(before)
			before = append(before, x)
		}
	}
	total := shrinkTotal
	proves := func(kept []bool) bool {
		steps := min(shrinkSteps, total)
		total -= steps
		left, answer := d.relaxed(ctx, actions, culprit, func(x timedAction) bool {
			i, known := place[x.call]
			return x.call == culprit.call || known && kept[i]
		}, steps)
		total += left
		return answer == porcupine.Illegal
	}
	kept := make([]bool, len(before))
	for n := 0; !proves(kept); n = max(1, 2*n) {
		if n >= len(before) || total <= 0 {
			return nil
		}
		for i := range min(max(1, 2*n), len(before)) {
			kept[i] = true
		}
	}
	minimize(kept, proves)
	var core []timedAction
	for _, x := range actions {
		if i, known := place[x.call]; x.call == culprit.call || known && kept[i] {
			core = append(core, x)
		}
	}
	return core
}

// minimize takes out of kept what proves does not need: halves first, then ever smaller parts,
// down to single places. If proves holds of every set that contains one of which it holds, no
// place of what is left can be spared.
func minimize(kept []bool, proves func([]bool) bool) {
	var places []int
	for i, k := range kept {
		if k {
			places = append(places, i)
		}
	}
	for size := (len(places) + 1) / 2; size > 0; size /= 2 {
		var left []int
		for from := 0; from < len(places); from += size {
			part := places[from:min(from+size, len(places))]
			for _, i := range part {
				kept[i] = false
			}
			if proves(kept) {
				continue
			}
			for _, i := range part {
				kept[i] = true
			}
			left = append(left, part...)
		}
		places = left
	}
}

// relaxed looks for an order of the actions that began before the culprit's answer, with all
// relaxed but those kept. It returns how many of the steps are left; if none is, the answer is
// Unknown.
func (d datatype) relaxed(ctx context.Context, actions []timedAction, culprit timedAction, keep func(timedAction) bool, steps int) (int, porcupine.CheckResult) {
	var kept, free []timedAction
	for _, x := range actions {
		switch {
		case x.call > culprit.at:
		case keep(x):
			kept = append(kept, x)
		default:
			if x.unknown = true; x.at > culprit.at {
				x.at = noEvent
			}
			if !d.idle(x.action) {
				free = append(free, x)
			}
		}
	}
	if d.helps != nil {
		free = d.helps(kept, free)
	}
	ops, init := turns(append(kept, free...), possible{d.init})
	ok := porcupine.CheckOperations(d.guesses(ctx, init, &steps), ops)
	switch {
	case ctx.Err() != nil, steps <= 0:
		return 0, porcupine.Unknown
	case ok:
		return steps, porcupine.Ok
	}
	return steps, porcupine.Illegal
}

// possible are the states that a datatype may be in if it is not known which calls happened.
type possible []any

// guesses is the datatype as porcupine asks for it, if calls of unknown outcome may have
// happened or not even where they return. It takes no step when ctx ends or when there are none
// left.
func (d datatype) guesses(ctx context.Context, init queued, steps *int) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return init },
		Step: func(state, input, _ any) (bool, any) {
			now, do := state.(queued), input.(turn)
			all := now.data.(possible)
			*steps -= len(all)
			if ctx.Err() != nil || *steps <= 0 {
				return false, state
			}
			served, ok := now.serve(do)
			if !ok {
				return false, state
			}
			var next possible
			if do.unknown {
				next = slices.Clone(all)
			}
			for _, s := range all {
				if legal, after := d.step(s, do.action); legal && !slices.Contains(next, after) {
					next = append(next, after)
				}
			}
			return len(next) > 0, queued{next, served}
		},
		Equal: func(a, b any) bool {
			x, y := a.(queued), b.(queued)
			p, q := x.data.(possible), y.data.(possible)
			return x.served == y.served && len(p) == len(q) && !slices.ContainsFunc(p, func(s any) bool { return !slices.Contains(q, s) })
		},
	}
}
