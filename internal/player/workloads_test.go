package player_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/player"
	"github.com/lockbench/lockbench/internal/schedule"
	"github.com/lockbench/lockbench/internal/sim"
	"github.com/lockbench/lockbench/locks"
	"github.com/lockbench/lockbench/nemesis"
)

// fakeLock answers what it is told to.
type fakeLock struct{ acquire, release error }

func (l *fakeLock) Acquire(context.Context, string, time.Duration) (locks.Lease, error) {
	if l.acquire != nil {
		return nil, l.acquire
	}
	return l, nil
}

func (l *fakeLock) Release(context.Context) error { return l.release }
func (l *fakeLock) Token() int64                  { return 7 }
func (l *fakeLock) Deadline() time.Time           { return time.Time{} }

// recorded runs f with a client of lock and returns the history.
func recorded(t *testing.T, lock locks.Locker, f func(ctx context.Context, c *player.Client)) []histories.Event {
	t.Helper()
	rec := histories.NewRecorder(nil)
	if err := sim.Run(1, time.Minute, func(w *sim.World) error {
		rec.Start(w.Now)
		f(context.Background(), &player.Client{
			Name: "A", Worker: 0, Workers: 3, Lock: lock, Clock: player.Gated(w.Source(), new(nemesis.Gate)), Recorder: rec, Now: w.Now,
			Rand: rand.New(rand.NewPCG(1, 1)), Timeout: time.Second,
		})
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return rec.Events()
}

// TestOutcomes checks what is recorded of a call: what was refused did not happen, and
// of any other error nobody knows; then the process retires.
func TestOutcomes(t *testing.T) {
	for name, tc := range map[string]struct {
		err     error
		want    histories.Type
		process int // of the next call
	}{
		"ok":      {nil, histories.OK, 0},
		"taken":   {locks.ErrTaken, histories.Fail, 0},
		"unknown": {errors.New("connection reset"), histories.Info, 3},
		"invalid": {&locks.InputError{Field: "ttl", Value: "1.5s", Want: "whole seconds"}, histories.Fail, 0},
	} {
		t.Run(name, func(t *testing.T) {
			lock := &fakeLock{acquire: tc.err}
			events := recorded(t, lock, func(ctx context.Context, c *player.Client) {
				if err := c.Acquire(ctx, "k", time.Second); !errors.Is(err, tc.err) {
					t.Errorf("got %v, want %v", err, tc.err)
				}
				if c.Holds() != (tc.err == nil) {
					t.Errorf("the client holds the lock: %v", c.Holds())
				}
				_ = c.Acquire(ctx, "k", time.Second)
			})
			if len(events) != 4 || events[0].Type != histories.Invoke || events[1].Type != tc.want {
				t.Fatalf("recorded %+v", events)
			}
			if events[1].Invalid() != (name == "invalid") {
				t.Errorf("the arguments were refused: %v", events[1].Invalid())
			}
			if events[1].Process != 0 || events[2].Process != tc.process || events[2].Worker != 0 {
				t.Errorf("processes %d and %d of worker %d, want 0 and %d", events[1].Process, events[2].Process, events[2].Worker, tc.process)
			}
			if events[0].Attempt == events[2].Attempt {
				t.Error("two attempts have one number")
			}
			if err := histories.Validate(events); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestReleaseEndsBelief(t *testing.T) {
	lock := &fakeLock{release: locks.ErrNotHeld}
	events := recorded(t, lock, func(ctx context.Context, c *player.Client) {
		_ = c.Acquire(ctx, "k", time.Second)
		if err := c.Release(ctx); !errors.Is(err, locks.ErrNotHeld) || c.Holds() {
			t.Errorf("release: %v; holds: %v", err, c.Holds())
		}
		for _, call := range []func(context.Context) error{c.Release, c.Read, c.Write} {
			if err := call(ctx); !errors.Is(err, player.ErrNotHolding) {
				t.Errorf("without the lock: %v", err)
			}
		}
	})
	if len(events) != 4 || events[3].Type != histories.Fail || events[3].Attempt != events[0].Attempt || events[3].Token != 7 {
		t.Errorf("recorded %+v", events)
	}
}

// extendable is a fakeLock whose leases can be extended, with an answer of their own.
type extendable struct {
	fakeLock
	extend error
}

func (l *extendable) Extend(context.Context, time.Duration) error { return l.extend }

// TestExtendRefused checks that a client extends what its latest acquire was refused, and that nothing is held for it.
func TestExtendRefused(t *testing.T) {
	lock := &fakeLock{acquire: &locks.RefusedError{Lease: &extendable{}, Err: locks.ErrTaken}}
	events := recorded(t, lock, func(ctx context.Context, c *player.Client) {
		if err := c.ExtendRefused(ctx, time.Second); !errors.Is(err, player.ErrNotHolding) {
			t.Errorf("before any acquire: %v", err)
		}
		_ = c.Acquire(ctx, "k", time.Second)
		if err := c.ExtendRefused(ctx, 2*time.Second); err != nil || c.Holds() {
			t.Errorf("of a refusal: %v, it holds the lock: %v", err, c.Holds())
		}
	})
	if len(events) != 4 || events[2].F != histories.Extend || events[2].Attempt != events[0].Attempt || events[2].TTL != 2*time.Second || events[3].Type != histories.OK {
		t.Errorf("recorded %+v", events)
	}
	if err := histories.Validate(events); err != nil {
		t.Error(err)
	}
}

// verifiable is a fakeLock whose leases can be asked about, with an answer of their own.
type verifiable struct {
	fakeLock
	verify error
}

func (l *verifiable) Verify(context.Context) error { return l.verify }

// granting is a lock that grants a lease of its own.
type granting struct{ lease locks.Lease }

func (l *granting) Acquire(context.Context, string, time.Duration) (locks.Lease, error) {
	return l.lease, nil
}

// TestVerify checks that a client asks its lock whether it still holds it, and goes on believing so whatever the answer is.
func TestVerify(t *testing.T) {
	lease := &verifiable{}
	lock := &granting{lease: lease}
	events := recorded(t, lock, func(ctx context.Context, c *player.Client) {
		if err := c.Verify(ctx); !errors.Is(err, player.ErrNotHolding) {
			t.Errorf("before any acquire: %v", err)
		}
		_ = c.Acquire(ctx, "k", time.Second)
		for _, want := range []error{nil, locks.ErrNotHeld} {
			lease.verify = want
			if err := c.Verify(ctx); !errors.Is(err, want) || !c.Holds() {
				t.Errorf("an answer of %v: %v, it holds the lock: %v", want, err, c.Holds())
			}
		}
	})
	if len(events) != 6 || events[2].F != histories.Verify || events[2].Attempt != events[0].Attempt || events[3].Type != histories.OK || !events[5].NotHeld() {
		t.Errorf("recorded %+v", events)
	}
	if err := histories.Validate(events); err != nil {
		t.Error(err)
	}
}

// TestReleaseRefused checks that a client releases what its latest acquire was refused, and nothing else.
func TestReleaseRefused(t *testing.T) {
	lease := &fakeLock{release: locks.ErrNotHeld}
	lock := &fakeLock{acquire: &locks.RefusedError{Lease: lease, Err: locks.ErrTaken}}
	events := recorded(t, lock, func(ctx context.Context, c *player.Client) {
		if err := c.ReleaseRefused(ctx); !errors.Is(err, player.ErrNotHolding) {
			t.Errorf("before any acquire: %v", err)
		}
		_ = c.Acquire(ctx, "k", time.Second)
		if err := c.ReleaseRefused(ctx); !errors.Is(err, locks.ErrNotHeld) {
			t.Errorf("of a refusal: %v", err)
		}
		for _, other := range []error{locks.ErrTaken, nil} {
			lock.acquire = other
			_ = c.Acquire(ctx, "k", time.Second)
			if err := c.ReleaseRefused(ctx); !errors.Is(err, player.ErrNotHolding) {
				t.Errorf("after an acquire that ended with %v: %v", other, err)
			}
		}
	})
	if len(events) != 8 || events[2].F != histories.Release || events[2].Attempt != events[0].Attempt || events[2].Key != "k" || events[3].Type != histories.Fail {
		t.Errorf("recorded %+v", events)
	}
	if err := histories.Validate(events); err != nil {
		t.Error(err)
	}
}

func TestCrash(t *testing.T) {
	events := recorded(t, &fakeLock{}, func(ctx context.Context, c *player.Client) {
		_ = c.Acquire(ctx, "k", time.Second)
		_ = c.Crash(func() error { return nil })
		if c.Holds() {
			t.Error("the dead hold locks")
		}
	})
	holds := histories.Holds(events)
	if len(holds) != 1 || holds[0].End != histories.Crash {
		t.Errorf("holds %+v", holds)
	}
}

// TestScriptErrorsNameTheStep checks that a script that cannot go on says where.
func TestScriptErrorsNameTheStep(t *testing.T) {
	script := player.Script{Schedule: schedule.Schedule{Clients: 1, Steps: []schedule.Step{
		{Verb: schedule.Sleep, For: new(schedule.Span)},
		{Verb: schedule.Release, Who: []string{"B"}},
	}}}
	if err := sim.Run(1, time.Minute, func(w *sim.World) error {
		s := &player.Stage{Clock: w.Source(), Interrupted: func() error { return nil }}
		return script.Run(context.Background(), s)
	}); err == nil || !strings.Contains(err.Error(), `step 2, "B release"`) || !strings.Contains(err.Error(), `client "B"`) {
		t.Errorf("got %v", err)
	}
}

func TestScriptsCanBeInterrupted(t *testing.T) {
	stop := errors.New("stop")
	asked := 0
	forever := player.Script{Schedule: schedule.Schedule{Steps: slices.Repeat([]schedule.Step{{Verb: schedule.Sleep, For: new(schedule.Span)}}, 100)}}
	if err := sim.Run(1, time.Minute, func(w *sim.World) error {
		return forever.Run(context.Background(), &player.Stage{Clock: w.Source(), Interrupted: func() error {
			if asked++; asked == 5 {
				return stop
			}
			return nil
		}})
	}); !errors.Is(err, stop) || asked != 5 {
		t.Errorf("got %v after %d questions", err, asked)
	}
}

// TestGatedClock checks that whoever looks at a paused client's clock stands still, and
// that those who go on do so at instants of their own.
func TestGatedClock(t *testing.T) {
	if err := sim.Run(1, time.Minute, func(w *sim.World) error {
		gate := new(nemesis.Gate)
		gate.Close()
		passed := make(chan time.Duration, 3)
		for _, look := range []func(player.Clock){
			func(c player.Clock) { c.Now() },
			func(c player.Clock) { c.Now() },
			func(c player.Clock) { _ = c.Sleep(context.Background(), time.Second) },
		} {
			clock := player.Gated(w.Source(), gate)
			go func() {
				look(clock)
				passed <- w.Now()
			}()
		}
		_ = w.Source().Sleep(context.Background(), time.Hour)
		gate.Open()
		seen := map[time.Duration]bool{}
		for range 3 {
			seen[<-passed] = true
		}
		for at := range seen {
			if at < time.Hour {
				t.Errorf("somebody went on at %v", at)
			}
		}
		if len(seen) != 3 || !w.Replayable() {
			t.Errorf("three went on at %v", seen)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

// TestNestedSections checks that a release ends the innermost section, and that what each
// event belongs to is its section's attempt.
func TestNestedSections(t *testing.T) {
	events := recorded(t, &fakeLock{}, func(ctx context.Context, c *player.Client) {
		for depth := range 3 {
			if c.Depth() != depth || c.Holds() != (depth > 0) {
				t.Errorf("depth %d, holds %v, want %d", c.Depth(), c.Holds(), depth)
			}
			_ = c.AcquireAs(ctx, histories.Reentrant, "k", time.Second)
		}
		for depth := 3; depth > 0; depth-- {
			if c.Depth() != depth || !c.Holds() {
				t.Errorf("depth %d, holds %v, want %d", c.Depth(), c.Holds(), depth)
			}
			_ = c.Release(ctx)
		}
		if c.Holds() || !errors.Is(c.Release(ctx), player.ErrNotHolding) {
			t.Error("the client holds more than it acquired")
		}
	})
	if len(events) != 12 {
		t.Fatalf("recorded %+v", events)
	}
	for i := range 3 {
		in, out := events[2*i], events[10-2*i]
		if in.Mode() != histories.Reentrant || in.Attempt != out.Attempt {
			t.Errorf("%+v is ended by %+v", in, out)
		}
	}
}

// TestCrashEndsAllSections checks that the dead hold nothing, however deep they were.
func TestCrashEndsAllSections(t *testing.T) {
	recorded(t, &fakeLock{}, func(ctx context.Context, c *player.Client) {
		_ = c.AcquireAs(ctx, histories.Reentrant, "k", time.Second)
		_ = c.AcquireAs(ctx, histories.Reentrant, "k", time.Second)
		if err := c.Crash(func() error { return nil }); err != nil {
			t.Error(err)
		}
		if c.Holds() || c.Depth() != 0 {
			t.Errorf("depth %d after a crash", c.Depth())
		}
	})
}

// countingLock is re-entrant and has readers.
type countingLock struct {
	*fakeLock
	count int64
	err   error
	read  int
}

func (l *countingLock) Count(context.Context, string) (int64, error) { return l.count, l.err }

func (l *countingLock) AcquireRead(ctx context.Context, key string, ttl time.Duration) (locks.Lease, error) {
	l.read++
	return l.Acquire(ctx, key, ttl)
}

func (l *countingLock) AcquireWrite(ctx context.Context, key string, ttl time.Duration) (locks.Lease, error) {
	return l.Acquire(ctx, key, ttl)
}

func TestCapabilities(t *testing.T) {
	events := recorded(t, &fakeLock{}, func(ctx context.Context, c *player.Client) {
		if c.AcquireAs(ctx, histories.Shared, "k", time.Second) == nil || c.Count(ctx, "k") == nil || c.Holds() {
			t.Error("a plain lock has readers, or counts")
		}
		lock := &countingLock{fakeLock: &fakeLock{}, count: 2}
		c.Lock = lock
		if err := c.Count(ctx, "k"); err != nil {
			t.Error(err)
		}
		lock.err = errors.New("connection reset")
		_ = c.Count(ctx, "k")
		if err := c.AcquireAs(ctx, histories.Shared, "k", time.Second); err != nil || lock.read != 1 {
			t.Errorf("%v, %d leases of readers", err, lock.read)
		}
	})
	if len(events) != 6 || events[1].Value != "2" || events[3].Type != histories.Info || events[4].Mode() != histories.Shared {
		t.Errorf("recorded %+v", events)
	}
}

func TestSectionsNeedALease(t *testing.T) {
	recorded(t, &fakeLock{}, func(ctx context.Context, c *player.Client) {
		for name, err := range map[string]error{"incr": c.Incr(ctx, time.Second), "draw": c.Draw(ctx, 1)} {
			if !errors.Is(err, player.ErrNotHolding) {
				t.Errorf("%s without the lock: %v", name, err)
			}
		}
	})
}

// watchedLock is re-entrant, and its leases are lost together, as those of one hold are.
type watchedLock struct {
	fakeLock
	lost chan struct{}
}

func (l *watchedLock) Acquire(context.Context, string, time.Duration) (locks.Lease, error) {
	return l, nil
}
func (l *watchedLock) Lost() <-chan struct{} { return l.lost }

// TestLostInside checks that a holder which is told of a loss believes in none of its
// leases any more, and that this is recorded of each once.
func TestLostInside(t *testing.T) {
	lock := &watchedLock{lost: make(chan struct{})}
	events := recorded(t, lock, func(ctx context.Context, c *player.Client) {
		c.Enter = func(locks.Lease) player.Section { return nothing{} }
		for range 2 {
			if err := c.AcquireAs(ctx, histories.Reentrant, "k", time.Second); err != nil {
				t.Error(err)
			}
		}
		close(lock.lost)
		_ = c.Clock.Sleep(ctx, time.Millisecond)
		if c.Holds() || c.Depth() != 0 {
			t.Errorf("it still believes in %d leases", c.Depth())
		}
	})
	lost, got := map[uint64]int{}, map[uint64]bool{}
	for _, e := range events {
		if e.F == histories.Lost {
			lost[e.Attempt]++
		} else {
			got[e.Attempt] = true
		}
	}
	if len(got) != 2 || len(lost) != 2 {
		t.Errorf("%d attempts, of which %d were lost, want both", len(got), len(lost))
	}
	for attempt, n := range lost {
		if !got[attempt] || n != 1 {
			t.Errorf("attempt %d was lost %d times", attempt, n)
		}
	}
}

// nothing is a section without a register.
type nothing struct{ player.Section }

func (nothing) Token() int64 { return 0 }
