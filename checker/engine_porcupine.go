package checker

import (
	"cmp"
	"context"
	"iter"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/anishathalye/porcupine"
)

// nobody is the state of a mutex that nobody holds. Any other state is the number
// of the section that holds it.
const nobody int32 = -1

// step is one operation on an owner-aware mutex: section takes it or gives it up.
type step struct {
	section int32
	end     bool
}

// An operation is a step with its call and its return.
type operation struct {
	step
	call, returned rank
}

// mutex is an owner-aware mutex as a sequential specification. It stops taking
// steps when ctx ends; the caller must then discard the answer.
func mutex(ctx context.Context) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return nobody },
		Step: func(state, input, _ any) (bool, any) {
			holder, s := state.(int32), input.(step)
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
// key are linearizable as an owner-aware mutex, or as one that parties share.
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
// the same order. A piece of one section is legal, for nobody else is in it.
//
// Where many clients wait in their calls at once there is nothing to cut, and a search
// among all of them would not end. A piece of more than narrow operations is judged with its
// calls made short, see short; what is left in one piece then is what overlaps whatever
// the order. Of such a piece the first sections are judged first, then more and more: it is
// illegal if they are, and a lock that was granted twice and never given back makes one
// piece of all that follows. Of one that is longer than whole only parts are judged, see parts: then an
// answer that all is legal is about them. Pieces are judged in batches, for one call of porcupine costs more
// than a few operations.
func linearizable(ctx context.Context, sections []section, budget time.Duration) porcupine.CheckResult {
	model := mutex(ctx)
	if sharing(sections) {
		model = parties(ctx, sections)
	}
	const full = 128
	b := newBatches(func(ops []porcupine.Operation) porcupine.CheckResult {
		result := porcupine.CheckOperationsTimeout(model, ops, budget)
		if ctx.Err() != nil {
			return porcupine.Unknown
		}
		return result
	})
	var batch []porcupine.Operation
	for piece := range pieces(sections) {
		if len(piece) > whole {
			for part := range parts(piece) {
				if b.answer(b.check(appendPlain(nil, part))); b.worst() != porcupine.Ok {
					break
				}
			}
			continue
		}
		for n := full; n < len(piece) && b.worst() == porcupine.Ok; n *= 4 {
			b.answer(b.check(appendPlain(nil, begun(piece, n))))
		}
		if len(batch) > 0 && len(batch)+len(piece) > full {
			b.judge(batch)
			batch = b.room()
		}
		if b.worst() != porcupine.Ok {
			break
		}
		batch = appendPlain(batch, piece)
	}
	b.judge(batch)
	b.work.Wait()
	return b.worst()
}

// whole is how many operations porcupine is given at once: time and memory that it takes grow with their square.
const whole = 4096

// parts are the sections of a piece, in the order in which they begin, so many at a time that their operations are
// quickly judged. Each section is among those of two parts, with as many before it as behind it in one or the other.
func parts(piece []operation) iter.Seq[[]operation] {
	const width = 512
	return func(yield func([]operation) bool) {
		var begins []operation
		ends := map[int32]operation{}
		for _, op := range piece {
			if op.end {
				ends[op.section] = op
			} else {
				begins = append(begins, op)
			}
		}
		for from := 0; from == 0 || from+width/2 < len(begins); from += width / 2 {
			part := slices.Clone(begins[from:min(from+width, len(begins))])
			for _, op := range part {
				if end, ended := ends[op.section]; ended {
					part = append(part, end)
				}
			}
			slices.SortFunc(part, byCall)
			if !yield(part) {
				return
			}
		}
	}
}

// batches judges batches of operations, as many at once as there are processors.
type batches struct {
	check   func([]porcupine.Operation) porcupine.CheckResult
	work    sync.WaitGroup
	rooms   chan []porcupine.Operation // of batches that were judged, for the next ones
	unknown atomic.Bool
	illegal atomic.Bool
}

func newBatches(check func([]porcupine.Operation) porcupine.CheckResult) *batches {
	b := &batches{check: check, rooms: make(chan []porcupine.Operation, runtime.GOMAXPROCS(0))}
	for range cap(b.rooms) - 1 { // the first batch brings its own
		b.rooms <- nil
	}
	return b
}

// room waits until another batch may be judged and returns the room for it.
func (b *batches) room() []porcupine.Operation { return <-b.rooms }

// judge judges a batch, which is b's from now on.
func (b *batches) judge(batch []porcupine.Operation) {
	if len(batch) == 0 {
		return
	}
	b.work.Go(func() {
		b.answer(b.check(batch))
		b.rooms <- batch[:0]
	})
}

func (b *batches) answer(result porcupine.CheckResult) {
	switch result {
	case porcupine.Ok:
	case porcupine.Illegal:
		b.illegal.Store(true)
	default:
		b.unknown.Store(true)
	}
}

// worst is the answer on all batches judged so far. One that is illegal makes all so.
func (b *batches) worst() porcupine.CheckResult {
	switch {
	case b.illegal.Load():
		return porcupine.Illegal
	case b.unknown.Load():
		return porcupine.Unknown
	}
	return porcupine.Ok
}

// pieces are the operations of some sections, cut into what has to be judged together. A
// piece is valid until the next.
func pieces(sections []section) iter.Seq[[]operation] {
	const narrow = 16
	return func(yield func([]operation) bool) {
		for piece := range cut(operations(sections)) {
			if len(piece) <= narrow {
				if !yield(piece) {
					return
				}
				continue
			}
			for piece := range cut(short(sections, piece)) {
				if !yield(piece) {
					return
				}
			}
		}
	}
}

// short makes the calls of some operations as short as they can be without a change of the
// answer: an acquire is called just before it returns, or, if it surfaced, when its end is
// called, and an end returns as soon as it was called. A legal order stays legal if an acquire
// takes effect later, up to then, or an end earlier, because in between nobody but the section
// itself had anything of the lock. It returns the operations in order of calls.
func short(sections []section, ops []operation) []operation {
	for i := range ops {
		op := &ops[i]
		s := &sections[op.section]
		switch {
		case s.surfaced && !op.end:
			op.call = s.end
		case s.surfaced:
		case op.end:
			op.returned = min(op.returned, op.call+1)
		default:
			op.call = op.returned - 1
		}
	}
	slices.SortStableFunc(ops, byCall)
	return ops
}

// byCall puts the acquire of a section before its end if both are called at once.
func byCall(a, b operation) int {
	order := cmp.Compare(a.call, b.call)
	if order != 0 || a.end == b.end {
		return order
	}
	if b.end {
		return -1
	}
	return 1
}

// operations are the acquires and ends of sections, in order of calls.
func operations(sections []section) []operation {
	ops := make([]operation, 0, 2*len(sections))
	for i := range sections { // in order as they come, mostly
		ops = append(ops, operation{step{section: int32(i)}, sections[i].call, sections[i].granted})
	}
	for i := range sections {
		if s := &sections[i]; s.end != never {
			ops = append(ops, operation{step{section: int32(i), end: true}, s.end, s.bound})
		}
	}
	slices.SortFunc(ops, byCall)
	return ops
}

// cut splits operations, which are in order of calls, where every section that began
// has been called to end. It leaves out pieces of one section.
func cut(ops []operation) iter.Seq[[]operation] {
	return func(yield func([]operation) bool) {
		start, open := 0, 0
		for i, op := range ops {
			if op.end {
				open--
			} else {
				open++
			}
			if open > 0 && i < len(ops)-1 {
				continue
			}
			piece := ops[start : i+1]
			start = i + 1
			if ops[start-1].section != piece[0].section || len(piece) > 2 {
				if !yield(piece) {
					return
				}
			}
		}
	}
}

// begun are the operations of the sections that begin among the first n.
func begun(ops []operation, n int) []operation {
	sections := make(map[int32]bool)
	for _, op := range ops[:n] {
		sections[op.section] = true
	}
	var all []operation
	for _, op := range ops {
		if sections[op.section] {
			all = append(all, op)
		}
	}
	return all
}

// appendPlain appends operations as porcupine takes them.
func appendPlain(all []porcupine.Operation, ops []operation) []porcupine.Operation {
	for _, op := range ops {
		all = append(all, porcupine.Operation{Input: op.step, Call: int64(op.call), Return: int64(op.returned)})
	}
	return all
}
