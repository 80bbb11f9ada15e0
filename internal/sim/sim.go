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
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockbench/lockbench/internal/sim/stacks"
)

// StuckError says that a bubble made no progress in real time: a goroutine in it blocks on
// something that virtual time cannot move, such as a mutex whose owner sleeps, or computes
// without end.
type StuckError struct {
	At     time.Duration // virtual time
	Limit  time.Duration // of real time
	Stacks string        // of the goroutines that do not wait for virtual time
	Socket bool          // one of them waits for a socket of the machine
}

func (e *StuckError) Error() string {
	why := "something in the run either computes without end, or waits for what virtual time cannot move, such as a sync.Mutex whose owner sleeps"
	if e.Socket {
		why = "something in the run waits for a socket of this machine, and in virtual time there are none"
	}
	return fmt.Sprintf("virtual time stands still at %v: for %v of real time, %s", e.At, e.Limit, why)
}

// LeftoverError says that goroutines were still there when f had returned.
type LeftoverError struct {
	Stacks string // of each kind one
}

func (e *LeftoverError) Error() string {
	return "goroutines are still there after the end:\n" + e.Stacks
}

// Run calls f in a new bubble and returns when every goroutine that f started has
// ended. A panic in f is returned as an error, and so is the *LeftoverError of goroutines that
// block when f has returned. A panic in a goroutine that f started ends the program, as
// always in Go.
//
// A run may take as long as it likes, but virtual time must not stand still: if it does so
// for limit of real time, Run returns a *StuckError and leaves the bubble behind. It then stands
// still at the next thing that it does with a connection or a clock of this package; what cannot
// be stopped is a goroutine that only computes.
//
// synctest.Test is made for tests. That it works from an ordinary binary is not
// documented; TestRunOutsideOfTests pins it.
func Run(seed uint64, limit time.Duration, f func(w *World) error) error {
	return RunContext(context.Background(), seed, limit, f)
}

// RunContext is Run until ctx ends. Then f has a moment to return by itself; how it learns of
// it is its own matter. If it does not, the bubble is left behind as by Run.
func RunContext(ctx context.Context, seed uint64, limit time.Duration, f func(w *World) error) error {
	b := &bubble{done: make(chan error, 1)}
	go func() { b.done <- b.run(seed, f) }()
	look := time.NewTicker(limit / looks)
	defer look.Stop()
	watch := watch{every: limit / looks, spent: processorTime()}
	var parting <-chan time.Time
	cancelled := ctx.Done()
	for {
		select {
		case err := <-b.done:
			return err
		case <-cancelled:
			cancelled, parting = nil, time.After(partings)
		case <-parting:
			b.abandoned.Store(true)
			return context.Cause(ctx)
		case <-look.C:
			runtime.Gosched() // whoever can run has a turn before it is said to stand still; where many can, the look is late
			if !watch.stands(time.Now(), processorTime(), b.reached.Load(), b.computes) {
				continue
			}
			b.abandoned.Store(true)
			where := b.stuck()
			return &StuckError{At: time.Duration(b.reached.Load()), Limit: limit, Stacks: where, Socket: strings.Contains(where, stacks.Polling+":\n")}
		}
	}
}

const (
	// looks is how often virtual time is looked at while it may stand still.
	looks = 100
	// partings is how long a run may take to end by itself once its context has ended.
	partings = time.Second
)

// watch says when virtual time stands still. A look that comes late proves nothing: then it is
// lockbench that stood still, or the machine is so busy that the run may not have had its turn.
type watch struct {
	every  time.Duration
	before time.Time     // of the look before
	at     int64         // what virtual time was then
	spent  time.Duration // processor time of this process when virtual time last moved
	still  int           // looks in time that found the same
}

// stands looks once. A run that computes has not had its turn either as long as this process was not given the processor for half of the time
// that virtual time may stand still: on a busy machine who looks now and then is served at once, and who computes is not.
func (w *watch) stands(now time.Time, spent time.Duration, at int64, computes func() bool) bool {
	late := now.Sub(w.before) > 2*w.every
	w.before = now
	if at != w.at {
		w.at, w.spent, w.still = at, spent, 0
	} else if !late {
		w.still++
	}
	if w.still < looks {
		return false
	}
	if spent-w.spent < looks*w.every/2 && computes() {
		w.still = 0
		return false
	}
	return true
}

// bubble is one run in virtual time.
type bubble struct {
	done      chan error
	reached   atomic.Int64 // the latest instant that Now showed
	abandoned atomic.Bool  // nobody waits for it any more
	name      atomic.Pointer[string]
}

func (b *bubble) run(seed uint64, f func(w *World) error) (err error) {
	ended := false
	defer func() {
		if r := recover(); r != nil {
			switch left := b.left(); {
			case b.abandoned.Load():
			case ended:
				err = errors.Join(err, &LeftoverError{Stacks: left})
			default:
				err = errors.Join(err, fmt.Errorf("everything in the run waits for something that never comes (%v):\n%s", r, left))
			}
		}
	}()
	synctest.Test(new(testing.T), func(*testing.T) {
		// f runs in a child: Goexit in the root of a bubble would end in the
		// middle of a testing.T that has no parent.
		done := make(chan struct{})
		go func() {
			defer close(done)
			name := stacks.Bubble()
			b.name.Store(&name)
			err = guarded(newWorld(seed, b), f)
		}()
		<-done
		ended = true
	})
	return err
}

// left are the stacks of what is left in the bubble, of each kind one.
func (b *bubble) left() string { return b.tell(func(string) bool { return true }) }

// stuck are the stacks of what does not wait for virtual time.
func (b *bubble) stuck() string {
	return b.tell(func(stack string) bool {
		head, _, _ := strings.Cut(stack, "\n")
		return !strings.Contains(head, "(durable)") && !strings.Contains(head, "[synctest.")
	})
}

// computes reports whether a goroutine of the bubble could go on if it were given a processor, or the bubble has not begun.
func (b *bubble) computes() bool {
	name := b.name.Load()
	return name == nil || slices.ContainsFunc(stacks.In(*name), stacks.Computes)
}

// tell tells the stacks of the bubble's goroutines that are wanted, each once.
func (b *bubble) tell(wanted func(stack string) bool) string {
	name := b.name.Load()
	if name == nil {
		return ""
	}
	var all []string
	for _, s := range stacks.In(*name) {
		if text := stacks.Frames(s); wanted(s) && text != "" {
			all = append(all, stacks.State(s)+":\n"+text)
		}
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), "\n")
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
	seed   uint64
	start  time.Time
	bubble *bubble

	mu         sync.Mutex
	nextSlot   int
	lastAt     time.Duration
	lastSlot   int
	ambiguous  int
	overflowed bool
}

func newWorld(seed uint64, b *bubble) *World {
	return &World{seed: seed, start: time.Now(), bubble: b, lastSlot: -1}
}

// stop stands still for ever in a run that nobody waits for any more.
func (w *World) stop() {
	if w.bubble.abandoned.Load() {
		select {}
	}
}

// Now is the time since the run began.
func (w *World) Now() time.Duration {
	now := time.Since(w.start)
	w.bubble.reached.Store(int64(now))
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

// Crowded reports whether there were more sources at once than slots, so that two shared one.
func (w *World) Crowded() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.overflowed
}

// Replayable reports whether the same seed gives the same bytes again.
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
