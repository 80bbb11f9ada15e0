package workloads_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/locks"
	"github.com/lockbench/lockbench/nemesis"
	"github.com/lockbench/lockbench/sim"
	"github.com/lockbench/lockbench/workloads"
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
func recorded(t *testing.T, lock *fakeLock, f func(ctx context.Context, c *workloads.Client)) []histories.Event {
	t.Helper()
	rec := histories.NewRecorder(nil)
	if err := sim.Run(1, time.Minute, func(w *sim.World) error {
		rec.Start(w.Now)
		f(context.Background(), &workloads.Client{
			Name: "A", Worker: 0, Workers: 3, Lock: lock, Clock: workloads.Gated(w.Source(), new(nemesis.Gate)), Recorder: rec, Now: w.Now,
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
	} {
		t.Run(name, func(t *testing.T) {
			lock := &fakeLock{acquire: tc.err}
			events := recorded(t, lock, func(ctx context.Context, c *workloads.Client) {
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
	events := recorded(t, lock, func(ctx context.Context, c *workloads.Client) {
		_ = c.Acquire(ctx, "k", time.Second)
		if err := c.Release(ctx); !errors.Is(err, locks.ErrNotHeld) || c.Holds() {
			t.Errorf("release: %v; holds: %v", err, c.Holds())
		}
		for _, call := range []func(context.Context) error{c.Release, c.Read, c.Write} {
			if err := call(ctx); !errors.Is(err, workloads.ErrNotHolding) {
				t.Errorf("without the lock: %v", err)
			}
		}
	})
	if len(events) != 4 || events[3].Type != histories.Fail || events[3].Attempt != events[0].Attempt || events[3].Token != 7 {
		t.Errorf("recorded %+v", events)
	}
}

func TestCrash(t *testing.T) {
	events := recorded(t, &fakeLock{}, func(ctx context.Context, c *workloads.Client) {
		_ = c.Acquire(ctx, "k", time.Second)
		c.Crash()
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
	script := workloads.Script{Cast: 1, Steps: []workloads.Step{
		{Text: "all is well", Do: func(context.Context, *workloads.Stage) error { return nil }},
		workloads.Release("B"),
	}}
	if err := sim.Run(1, time.Minute, func(w *sim.World) error {
		s := &workloads.Stage{Clock: w.Source(), Interrupted: func() error { return nil }}
		return script.Run(context.Background(), s)
	}); err == nil || !strings.Contains(err.Error(), `step 2, "B releases"`) || !strings.Contains(err.Error(), `client "B"`) {
		t.Errorf("got %v", err)
	}
}

func TestScriptsCanBeInterrupted(t *testing.T) {
	stop := errors.New("stop")
	asked := 0
	forever := workloads.Script{Steps: make([]workloads.Step, 100)}
	for i := range forever.Steps {
		forever.Steps[i].Do = func(context.Context, *workloads.Stage) error { return nil }
	}
	if err := sim.Run(1, time.Minute, func(w *sim.World) error {
		return forever.Run(context.Background(), &workloads.Stage{Clock: w.Source(), Interrupted: func() error {
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
		for _, look := range []func(workloads.Clock){
			func(c workloads.Clock) { c.Now() },
			func(c workloads.Clock) { c.Now() },
			func(c workloads.Clock) { _ = c.Sleep(context.Background(), time.Second) },
		} {
			clock := workloads.Gated(w.Source(), gate)
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
