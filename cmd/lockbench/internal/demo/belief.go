package demo

import (
	"slices"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/nemesis"
)

// opinion is what a client takes to be true of the lock.
type opinion uint8

const (
	asks     opinion = iota // it has asked for the lock and does not know the answer
	holds                   // it believes to hold the lock
	refused                 // it was refused
	unsure                  // it will never know what its acquire did
	returns                 // it gives the lock back and does not know the answer
	returned                // it has given the lock back
	robbed                  // it was told that the lock is not its own any more
	doubts                  // it will never know what its release did
	gone                    // it hangs, or has walked away, and will never give the lock back
	dead
)

// belief is what one client believes when a step is over.
type belief struct {
	client  string
	opinion opinion
	shared  bool          // as a reader
	depth   int           // holds: how many acquires of its are not released, one inside the other
	until   time.Duration // holds: when the lock told it that the lease ends; 0: it did not
	renews  bool          // holds: its lock renews the lease, so that until is not the end
	over    bool          // holds: until has passed
	still   bool          // it stands still, and so cannot look
}

// beliefs are those of the clients that have done something, in the order of their names,
// when the events have happened and it is now. renews says that the lock renews its leases.
func beliefs(events []histories.Event, now time.Duration, renews bool) []belief {
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
		b.renews = renews && b.opinion == holds
		b.over = b.until > 0 && b.until <= now && !b.renews
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
			b.shared = e.Mode() == histories.Shared
			b.asks()
		case histories.OK:
			b.opinion, b.until = holds, e.Deadline
			b.depth++
		case histories.Fail:
			b.keeps(refused)
		case histories.Info:
			b.opinion = unsure
		}
	case histories.Extend:
		if e.Type == histories.OK {
			b.until = e.Deadline
		}
	case histories.Release:
		switch e.Type {
		case histories.Invoke:
			b.depth = max(b.depth-1, 0)
			b.keeps(returns)
		case histories.OK:
			b.keeps(returned)
		case histories.Fail:
			b.opinion = robbed
		case histories.Info:
			b.opinion = doubts
		}
	case histories.Lost:
		b.opinion = robbed
	case histories.Abandon:
		b.opinion = gone
	case histories.Crash:
		b.opinion = dead
	}
	if b.opinion != holds {
		b.depth, b.until = 0, 0
	}
}

// asks lets a client ask for the lock. If it enters it again it goes on to hold what it has.
func (b *belief) asks() {
	if b.depth == 0 {
		b.opinion, b.until = asks, 0
	}
}

// keeps gives a client an opinion, unless it is inside of an acquire that is not released yet.
func (b *belief) keeps(o opinion) {
	if b.depth == 0 {
		b.opinion = o
	}
}
