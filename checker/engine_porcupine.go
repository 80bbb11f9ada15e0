package checker

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/anishathalye/porcupine"
)

// nobody is the state of a mutex that nobody holds. Any other state is the number
// of the section that holds it.
const nobody = -1

// step is one operation on an owner-aware mutex: section takes it or gives it up.
type step struct {
	section int
	end     bool
}

// mutex is an owner-aware mutex as a sequential specification. It stops taking
// steps when ctx ends; the caller must then discard the answer.
func mutex(ctx context.Context) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return nobody },
		Step: func(state, input, _ any) (bool, any) {
			holder, s := state.(int), input.(step)
			switch {
			case ctx.Err() != nil:
				return false, state
			case s.end:
				return holder == s.section, nobody
			default:
				return holder == nobody, s.section
			}
		},
	}
}

// linearizable is the porcupine engine. It decides whether the sections of one
// key are linearizable as an owner-aware mutex.
//
// Each section is an acquire, called at section.call and returned at
// section.granted, and an end, called at section.end and returned at
// section.bound. A section that never ends has no end operation. Ranks serve as
// timestamps. That is exact: porcupine looks only at whether one operation
// returned before another was called, it reads equal timestamps as concurrent,
// and no call shares a rank with a return.
//
// Porcupine's cost grows faster than its input, so the operations are cut where as
// many sections have been called to end as to begin, and the pieces are judged
// alone. That is exact too. A legal order of all operations stays legal without the
// sections of other pieces. And legal orders of two pieces join: every operation of
// the first was called before the cut, so all of them can take effect before it, in
// the same order.
func linearizable(ctx context.Context, sections []section, budget time.Duration) porcupine.CheckResult {
	model := mutex(ctx)
	for _, piece := range cut(operations(sections)) {
		result := porcupine.CheckOperationsTimeout(model, piece, budget)
		if ctx.Err() != nil {
			return porcupine.Unknown
		}
		if result != porcupine.Ok {
			return result
		}
	}
	return porcupine.Ok
}

// operations are the acquires and ends of sections, in order of calls.
func operations(sections []section) []porcupine.Operation {
	ops := make([]porcupine.Operation, 0, 2*len(sections))
	for i, s := range sections {
		ops = append(ops, porcupine.Operation{Input: step{section: i}, Call: int64(s.call), Return: int64(s.granted)})
		if s.end != never {
			ops = append(ops, porcupine.Operation{Input: step{section: i, end: true}, Call: int64(s.end), Return: int64(s.bound)})
		}
	}
	slices.SortFunc(ops, func(a, b porcupine.Operation) int { return cmp.Compare(a.Call, b.Call) })
	return ops
}

// cut splits operations, which are in order of calls, where every section that began
// has been called to end.
func cut(ops []porcupine.Operation) [][]porcupine.Operation {
	var pieces [][]porcupine.Operation
	start, open := 0, 0
	for i, op := range ops {
		if op.Input.(step).end {
			open--
		} else {
			open++
		}
		if open == 0 {
			pieces = append(pieces, ops[start:i+1])
			start = i + 1
		}
	}
	if start < len(ops) {
		pieces = append(pieces, ops[start:])
	}
	return pieces
}
