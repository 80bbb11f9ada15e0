package worker

import (
	"context"
	"time"
)

// Clock is the machine's, as a locks.Clock.
type Clock struct{}

// Now is the time.
func (Clock) Now() time.Time { return time.Now() }

// After sends the time once d has passed.
func (Clock) After(d time.Duration) <-chan time.Time { return time.After(d) }

// Sleep waits for d, or until ctx ends.
func (Clock) Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
