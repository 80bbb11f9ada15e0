// Package sim gives a run virtual time: bubbles in which the clock jumps from one
// event to the next, time slots that make the order of events exact, and an
// in-memory network with latencies drawn from the seed.
//
// Two rules make a run replay byte for byte. First, no two sources of events ever
// act at the same instant: each has its own residue modulo Slots nanoseconds and
// rounds its instants up to it, because timers that are due at the same instant
// fire in an order that cannot be seeded. Second, latency is a hash of (seed,
// connection, message number) and not a draw from a shared generator, because
// who draws first would again be a race.
package sim

import (
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// ErrStuck says that a bubble made no progress in real time: a goroutine in it
// blocks on something that virtual time cannot move, such as a mutex whose owner
// sleeps.
var ErrStuck = errors.New("virtual time stands still")

// Run calls f in a new bubble and returns when every goroutine that f started has
// ended. A panic in f, goroutines that block for ever, and goroutines left over are
// returned as errors. A panic in a goroutine that f started ends the program, as
// always in Go.
//
// A run may take as long as it likes, but virtual time must not stand still: if it shows
// the same at two looks that are limit apart, in real time, Run returns ErrStuck and leaves
// the bubble behind; the process should then end.
//
// synctest.Test is made for tests. That it works from an ordinary binary is not
// documented; TestRunOutsideOfTests pins it.
func Run(seed uint64, limit time.Duration, f func(w *World) error) error {
	done := make(chan error, 1)
	var reached atomic.Int64
	go func() { done <- bubble(seed, &reached, f) }()
	at, ended, err := watch(done, &reached, func() <-chan time.Time { return time.After(limit) })
	if !ended {
		return fmt.Errorf("%w: at %v, for %v of real time", ErrStuck, at, limit)
	}
	return err
}

// watch waits for the end, and returns what it brought. It gives up, and says at which
// instant, when two looks at what was reached find the same. next says when to look.
func watch(end <-chan error, reached *atomic.Int64, next func() <-chan time.Time) (at time.Duration, ended bool, err error) {
	for before := int64(-1); ; {
		select {
		case err := <-end:
			return 0, true, err
		case <-next():
		}
		now := reached.Load()
		if now == before {
			return time.Duration(now), false, nil
		}
		before = now
	}
}

func bubble(seed uint64, reached *atomic.Int64, f func(w *World) error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = errors.Join(err, fmt.Errorf("bubble: %v", r))
		}
	}()
	synctest.Test(new(testing.T), func(*testing.T) {
		// f runs in a child: Goexit in the root of a bubble would end in the
		// middle of a testing.T that has no parent.
		done := make(chan struct{})
		go func() {
			defer close(done)
			err = guarded(newWorld(seed, reached), f)
		}()
		<-done
	})
	return err
}

func guarded(w *World, f func(w *World) error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v\n%s", r, debug.Stack())
		}
	}()
	err = errors.New("the run ended by Goexit")
	err = f(w)
	return err
}

// World is the virtual surroundings of one run. It is created and used inside one
// bubble.
type World struct {
	seed    uint64
	start   time.Time
	reached *atomic.Int64 // the latest instant that Now showed, for watch

	mu         sync.Mutex
	nextSlot   int
	lastAt     time.Duration
	lastSlot   int
	ambiguous  int
	overflowed bool
}

func newWorld(seed uint64, reached *atomic.Int64) *World {
	return &World{seed: seed, start: time.Now(), reached: reached, lastSlot: -1}
}

// Now is the time since the run began.
func (w *World) Now() time.Duration {
	now := time.Since(w.start)
	w.reached.Store(int64(now))
	return now
}

// Ambiguous counts the instants at which two sources acted at once, so that their
// order was left to the scheduler. A run is replayable only if it is 0 and no slots
// were shared.
func (w *World) Ambiguous() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.ambiguous
}

// Crowded says that there were more sources at once than slots, so that two shared one.
func (w *World) Crowded() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.overflowed
}

// Replayable says whether the same seed gives the same bytes again.
func (w *World) Replayable() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.ambiguous == 0 && !w.overflowed
}

// acted notes that the source with this slot acts now.
func (w *World) acted(slot int) {
	now := w.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	if now == w.lastAt && slot != w.lastSlot && w.lastSlot >= 0 {
		w.ambiguous++
	}
	w.lastAt, w.lastSlot = now, slot
}
