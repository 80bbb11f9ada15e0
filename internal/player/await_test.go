package player_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/player"
	"github.com/lockbench/lockbench/internal/schedule"
	"github.com/lockbench/lockbench/locks"
)

// patientLock waits for as many commands as it is told.
type patientLock struct {
	fakeLock
	sent, costs int
}

func (l *patientLock) Await(context.Context, string, time.Duration) (locks.Lease, error) {
	l.sent += l.costs
	return l, nil
}

// lateLock is taken until it was tried often enough. It does not wait.
type lateLock struct {
	fakeLock
	tries int
}

func (l *lateLock) Acquire(context.Context, string, time.Duration) (locks.Lease, error) {
	if l.tries--; l.tries >= 0 {
		return nil, locks.ErrTaken
	}
	return l, nil
}

// TestAwait checks that what an acquire costs is recorded of a lock that waits itself, and
// that another is tried until it is free.
func TestAwait(t *testing.T) {
	patient := &patientLock{sent: 3, costs: 7}
	events := recorded(t, patient, func(ctx context.Context, c *player.Client) {
		c.Sent = func() int { return patient.sent }
		if err := c.Await(ctx, "k", time.Second); err != nil || !c.Holds() {
			t.Errorf("%v, holds %v", err, c.Holds())
		}
	})
	if len(events) != 3 || events[2].F != histories.Waited || events[2].Value != "7" || events[2].Attempt != events[0].Attempt {
		t.Errorf("recorded %+v", events)
	}
	if err := histories.Validate(events); err != nil {
		t.Error(err)
	}

	events = recorded(t, &lateLock{tries: 10}, func(ctx context.Context, c *player.Client) {
		c.Sent = func() int { return 0 }
		if err := c.Await(ctx, "k", time.Second); err != nil {
			t.Error(err)
		}
	})
	if len(events) != 2 || events[1].Type != histories.OK || events[1].Time < 500*time.Millisecond {
		t.Errorf("recorded %+v", events)
	}
}

// TestReadersNeedAnRWLock checks that a reader's step says what it needs.
func TestReadersNeedAnRWLock(t *testing.T) {
	s := &player.Stage{Clients: []*player.Client{{Name: "A", Lock: &fakeLock{}}}}
	s.Interrupted = func() error { return nil }
	s.Keys = []player.Key{{Name: "k", Unknown: errors.New("nobody knows")}}
	script := player.Script{Schedule: schedule.Schedule{Steps: []schedule.Step{{Verb: schedule.Acquire, Who: []string{"A"}, What: schedule.Shared}}}}
	if _, ok := errors.AsType[*player.UnplayableError](script.Run(context.Background(), s)); !ok {
		t.Error("a plain lock has readers")
	}
}
