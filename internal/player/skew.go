package player

import (
	"context"
	"fmt"
	"math"
	"sync"
	"time"
)

// Skew is what is wrong with the clock of one client. All clocks of a client share one. It
// implements nemesis.WallClock and is safe for concurrent use.
type Skew struct {
	now func() time.Time // the right time

	mu    sync.Mutex
	set   time.Time // when the clock was set; zero: never
	shown time.Time // what it showed then
	rate  float64   // how fast it runs since
}

// NewSkew returns a Skew with which a clock is right, as right is.
func NewSkew(right Clock) *Skew { return &Skew{now: right.Now} }

// Set makes the client's clock differ from the right time by offset, now, and run rate
// times as fast from now on.
func (s *Skew) Set(_ context.Context, offset time.Duration, rate float64) error {
	if rate <= 0 {
		return fmt.Errorf("want a clock that runs more than 0 times as fast as it should, got %v", rate)
	}
	now := s.now()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.set, s.shown, s.rate = now, now.Add(offset), rate
	return nil
}

// Read is what the client's clock shows.
func (s *Skew) Read(context.Context) (time.Time, error) { return s.show(s.now()), nil }

// show is what the client's clock shows at the right time now. Go's monotonic reading
// moves with it: a lock sees a jump, as programs do that compare times of day.
func (s *Skew) show(now time.Time) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.set.IsZero() {
		return now
	}
	return s.shown.Add(time.Duration(float64(now.Sub(s.set)) * s.rate))
}

// lasts is how long d by the client's clock really is. A nil Skew is right.
func (s *Skew) lasts(d time.Duration) time.Duration {
	if s == nil {
		return d
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.set.IsZero() || s.rate == 1 {
		return d
	}
	return time.Duration(math.Ceil(float64(d) / s.rate))
}

// Skewed is c as a client with a wrong clock sees it: Now is wrong, and timers take as long
// as the rate makes them, but do not jump. One that runs already keeps its end, and what
// After delivers is the right time.
func Skewed(c Clock, s *Skew) Clock { return skewed{c, s} }

type skewed struct {
	Clock
	skew *Skew
}

func (c skewed) Now() time.Time { return c.skew.show(c.Clock.Now()) }

func (c skewed) Sleep(ctx context.Context, d time.Duration) error {
	return c.Clock.Sleep(ctx, c.skew.lasts(d))
}

func (c skewed) After(d time.Duration) <-chan time.Time { return c.Clock.After(c.skew.lasts(d)) }
func (c skewed) In(d time.Duration) time.Duration       { return c.Clock.In(c.skew.lasts(d)) }
