package checker

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"

	"github.com/anishathalye/porcupine"
)

// Of calls that are the same and that never returned, one that began earlier can stand in for one
// that began later. So they have their effects, if any, in the order in which they began, and no
// other order need be tried: they queue.

// A turn is an action with its place in a queue; queue is -1 if it stands in none.
type turn struct {
	action
	queue int
	place uint32
}

// queued is the state of a datatype, and how many of each queue have had their turn, in 4 bytes
// each.
type queued struct {
	data   any
	served string
}

// serve lets a turn come, if it may come now.
func (q queued) serve(do turn) (string, bool) {
	if do.queue < 0 {
		return q.served, true
	}
	next := []byte(q.served)
	mine := next[4*do.queue:]
	if binary.BigEndian.Uint32(mine) != do.place {
		return "", false
	}
	binary.BigEndian.PutUint32(mine, do.place+1)
	return string(next), true
}

// turns are the actions as operations, and the state before them.
func turns(actions []timedAction, init any) ([]porcupine.Operation, queued) {
	alike := make(map[action]int)
	for _, x := range actions {
		if x.at == noEvent {
			alike[x.action]++
		}
	}
	type queue struct {
		number int
		length uint32
	}
	queues := make(map[action]*queue)
	ops := make([]porcupine.Operation, 0, len(actions))
	for _, x := range slices.SortedStableFunc(slices.Values(actions), func(a, b timedAction) int { return cmp.Compare(a.call, b.call) }) {
		do := turn{action: x.action, queue: -1}
		if x.at == noEvent && alike[x.action] > 1 {
			q := queues[x.action]
			if q == nil {
				q = &queue{number: len(queues)}
				queues[x.action] = q
			}
			do.queue, do.place = q.number, q.length
			q.length++
		}
		op := porcupine.Operation{Input: do, Call: int64(x.call), Return: math.MaxInt64}
		if x.at != noEvent {
			op.Return = int64(x.at)
		}
		ops = append(ops, op)
	}
	return ops, queued{init, string(make([]byte, 4*len(queues)))}
}
