package player_test

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/player"
	"github.com/lockbench/lockbench/internal/sim"
	"github.com/lockbench/lockbench/locks"
	"github.com/lockbench/lockbench/nemesis"
)

var _ nemesis.WallClock = (*player.Skew)(nil)

// TestSkewed checks what moves with a wrong clock: a jump moves the time of day and no
// timer, and a rate moves both.
func TestSkewed(t *testing.T) {
	ctx := context.Background()
	if err := sim.Run(1, time.Minute, func(w *sim.World) error {
		right := w.Source()
		skew := player.NewSkew(right)
		clock := player.Skewed(right, skew)
		// A slot is much shorter than this.
		about := func(what string, got, want time.Duration) {
			t.Helper()
			if (got - want).Abs() > time.Millisecond {
				t.Errorf("%s is %v, want %v", what, got, want)
			}
		}
		check := func(rate float64) {
			t.Helper()
			at, shown := w.Now(), clock.Now()
			if err := clock.Sleep(ctx, 10*time.Second); err != nil {
				t.Error(err)
			}
			about("by the clock a sleep of 10s", clock.Now().Sub(shown), 10*time.Second)
			really := time.Duration(float64(10*time.Second) / rate)
			about("a sleep of 10s", w.Now()-at, really)
			at = w.Now()
			<-clock.After(10 * time.Second)
			about("a timer of 10s", w.Now()-at, really)
			about("a time-out of 10s", clock.In(10*time.Second), really)
		}
		check(1)
		for _, by := range []time.Duration{time.Hour, -time.Hour, 0} {
			if err := skew.Set(ctx, by, 1); err != nil {
				t.Error(err)
			}
			about("the clock's error", clock.Now().Sub(right.Now()), by)
			if wall := clock.Now().UnixMilli() - right.Now().UnixMilli(); wall != by.Milliseconds() {
				t.Errorf("in milliseconds the clock is %d ahead, want %d", wall, by.Milliseconds())
			}
			check(1)
		}
		for _, rate := range []float64{2, 0.5} {
			if err := skew.Set(ctx, time.Minute, rate); err != nil {
				t.Error(err)
			}
			about("the clock's error", clock.Now().Sub(right.Now()), time.Minute)
			check(rate)
		}
		if skew.Set(ctx, 0, 0) == nil {
			t.Error("a clock was made to stand still")
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

// leasing is a lock that lets something happen between its look at the clock and its answer.
type leasing struct {
	clock     player.Clock
	meanwhile func()
}

func (l leasing) Acquire(_ context.Context, _ string, ttl time.Duration) (locks.Lease, error) {
	deadline := l.clock.Now().Add(ttl)
	l.meanwhile()
	return leased{deadline}, nil
}

type leased struct{ deadline time.Time }

func (leased) Release(context.Context) error { return nil }
func (leased) Token() int64                  { return 0 }
func (l leased) Deadline() time.Time         { return l.deadline }

// TestDeadlineByAWrongClock checks when, on the run's clock, a holder believes that its
// lease ends: as its own clock shows it when it is handed the lease.
func TestDeadlineByAWrongClock(t *testing.T) {
	const ttl = 10 * time.Second
	for name, tc := range map[string]struct {
		before, meanwhile, after func(s *player.Skew) error
		want                     time.Duration
	}{
		"right":                    {want: ttl},
		"wrong all along":          {before: by(time.Hour, 1), want: ttl},
		"twice as fast":            {before: by(0, 2), want: ttl / 2},
		"half as fast":             {before: by(time.Hour, 0.5), want: 2 * ttl},
		"ahead by now":             {meanwhile: by(4*time.Second, 1), want: 6 * time.Second},
		"set back by now":          {meanwhile: by(-4*time.Second, 1), want: 14 * time.Second},
		"set back when it is told": {after: by(-time.Hour, 1), want: ttl},
	} {
		t.Run(name, func(t *testing.T) {
			rec := histories.NewRecorder(nil)
			if err := sim.Run(1, time.Minute, func(w *sim.World) error {
				rec.Start(w.Now)
				right := w.Source()
				skew := player.NewSkew(right)
				set := func(f func(*player.Skew) error) {
					if f != nil && f(skew) != nil {
						t.Error("the clock was not set")
					}
				}
				clock := player.Gated(player.Skewed(right, skew), new(nemesis.Gate))
				c := &player.Client{
					Name: "A", Workers: 1, Clock: clock, Skew: skew, Recorder: rec, Now: w.Now,
					Lock: leasing{clock, func() { set(tc.meanwhile) }},
					Rand: rand.New(rand.NewPCG(1, 1)), Timeout: time.Second,
				}
				set(tc.before)
				if err := c.Acquire(context.Background(), "k", ttl); err != nil {
					t.Error(err)
				}
				set(tc.after)
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			if e := rec.Events()[1]; e.Deadline-e.Time != tc.want {
				t.Errorf("the holder believes for %v, want %v", e.Deadline-e.Time, tc.want)
			}
		})
	}
}

func by(offset time.Duration, rate float64) func(*player.Skew) error {
	return func(s *player.Skew) error { return s.Set(context.Background(), offset, rate) }
}
