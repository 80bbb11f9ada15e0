package demo

import (
	"slices"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/nemesis"
)

// mind is what a client takes to be true of the lock.
type mind uint8

const (
	asks     mind = iota // it has asked for the lock and does not know the answer
	holds                // it believes to hold the lock
	refused              // it was refused
	unsure               // it will never know what its acquire did
	returns              // it gives the lock back and does not know the answer
	returned             // it has given the lock back
	robbed               // it was told that the lock is not its own any more
	doubts               // it will never know what its release did
	dead
)

// belief is what one client believes when a step is over.
type belief struct {
	client string
	mind   mind
	shared bool          // as a reader
	until  time.Duration // holds: when the lock told it that the lease ends; 0: it did not
	over   bool          // holds: that has passed
	still  bool          // it stands still, and so cannot look
}

// beliefs are those of the clients that have done something, in the order of their names,
// when the events have happened and it is now.
func beliefs(events []histories.Event, now time.Duration) []belief {
	byWorker := map[int]*belief{}
	still := map[string]bool{}
	var workers []int
	for _, e := range events {
		if e.Process == histories.Nemesis {
			if e.F == nemesis.PauseF {
				still[e.Node] = e.Type == histories.Invoke
			}
			continue
		}
		b := byWorker[e.Worker]
		if b == nil {
			b = &belief{client: histories.WorkerName(e.Worker)}
			byWorker[e.Worker] = b
			workers = append(workers, e.Worker)
		}
		b.hear(e)
	}
	slices.Sort(workers)
	var all []belief
	for _, worker := range workers {
		b := *byWorker[worker]
		b.still = still[b.client]
		b.over = b.until > 0 && b.until <= now
		all = append(all, b)
	}
	return all
}

// hear lets a client learn of e, an event of its own.
func (b *belief) hear(e histories.Event) {
	switch e.F {
	case histories.Acquire:
		switch e.Type {
		case histories.Invoke:
			b.mind, b.shared, b.until = asks, e.Mode() == histories.Shared, 0
		case histories.OK:
			b.mind, b.until = holds, e.Deadline
		case histories.Fail:
			b.mind = refused
		case histories.Info:
			b.mind = unsure
		}
	case histories.Extend:
		if e.Type == histories.OK {
			b.until = e.Deadline
		}
	case histories.Release:
		switch e.Type {
		case histories.Invoke:
			b.mind = returns
		case histories.OK:
			b.mind = returned
		case histories.Fail:
			b.mind = robbed
		case histories.Info:
			b.mind = doubts
		}
	case histories.Lost:
		b.mind = robbed
	case histories.Crash:
		b.mind = dead
	}
	if b.mind != holds {
		b.until = 0
	}
}
