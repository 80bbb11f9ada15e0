package certify_test

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/lockbench/lockbench/histories"
)

// accessed is what a few clients, each with one attempt, recorded of reads and writes of a register
// that accepts everything.
func accessed(r *rand.Rand, clients, calls int) []histories.Event {
	var events []histories.Event
	free := make([]time.Duration, clients) // when the client's last call was answered
	process, tokens := make([]int, clients), make([]int64, clients)
	for i := range clients {
		process[i] = i
		if r.IntN(2) == 0 {
			tokens[i] = 1 + r.Int64N(3)
		}
		e := histories.Event{Process: i, Worker: i, F: histories.Acquire, Key: "k", Attempt: uint64(i + 1), Time: time.Duration(2 * i)}
		answer := e
		e.Type, answer.Type, answer.Time, answer.Token = histories.Invoke, histories.OK, e.Time+1, tokens[i]
		events, free[i] = append(events, e, answer), answer.Time
	}
	now, version := time.Duration(2*clients), int64(0)
	for range calls {
		i := r.IntN(clients)
		now = max(now, free[i]+1) + time.Duration(1+r.IntN(3)) // the register's instant
		e := histories.Event{Process: process[i], Worker: i, F: histories.Read, Key: "k", Attempt: uint64(i + 1), Token: tokens[i], Type: histories.Invoke}
		if r.IntN(2) == 0 {
			e.F = histories.Write
		}
		e.Time = free[i] + 1 + time.Duration(r.Int64N(int64(now-free[i])))
		answer := e
		answer.Type, answer.Version, answer.Time = histories.OK, version, now+time.Duration(r.IntN(10))
		if e.F == histories.Write {
			version++
		}
		if r.IntN(12) == 0 {
			answer.Type, answer.Version, process[i] = histories.Info, 0, process[i]+clients
		}
		events, free[i] = append(events, e, answer), answer.Time
	}
	slices.SortStableFunc(events, func(a, b histories.Event) int { return cmp.Compare(a.Time, b.Time) })
	for i := range events {
		events[i].Index = i
	}
	return events
}
