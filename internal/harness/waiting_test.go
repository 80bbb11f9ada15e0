package harness_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/locks"
	"github.com/lockbench/lockbench/scenarios"
)

// patient is a sound lock whose Acquire waits where that of locks.Locker tries once, as the acquire of many libraries does.
type patient struct {
	locks.Locker
	clock locks.Clock
}

func (p patient) Acquire(ctx context.Context, key string, ttl time.Duration) (locks.Lease, error) {
	return locks.AcquireWait(ctx, p.Locker, key, ttl, locks.Interval{Every: ttl / 50, Clock: p.clock})
}

// TestLockThatWaitsIsNotAccused: what breaks because clients waited where the steps ask them to try once is not said of the lock. It breaks
// what the lock breaks that it waits for, and no more.
func TestLockThatWaitsIsNotAccused(t *testing.T) {
	sound := find(t, "setnx-px-lua")
	waiting := sound
	waiting.New = func(env locks.Env) locks.Locker { return patient{sound.New(env), env.Clock} }
	waited, played := 0, 0
	for _, s := range scenarios.All() {
		guard := s.Broken().Guard
		if s.Unfit(sound) != "" || guard.Supports(sound) != nil {
			continue
		}
		want, err := playedBy(t, s, sound)
		if err != nil {
			continue // it is not for the lock
		}
		got, err := playedBy(t, s, waiting)
		switch {
		case harness.NotApplicable(err):
			waited++
			continue
		case err != nil:
			t.Errorf("%s: %v", s.Name, err)
			continue
		}
		played++
		for _, r := range got.Report.Results {
			if r.Verdict == checker.Fail && want.Report.Result(r.Property).Verdict != checker.Fail {
				t.Errorf("%s: %s is violated by a lock that waits, and not by the same that does not: %s", s.Name, r.Property, r.Story)
			}
		}
	}
	if waited < 20 || played < 10 {
		t.Errorf("%d scenarios do not apply to a lock that waits, and %d do, want 20 and 10 at least", waited, played)
	}
}

func playedBy(t *testing.T, s scenarios.Scenario, lock locks.Spec) (harness.Result, error) {
	t.Helper()
	cfg, err := s.Config(lock, s.Broken().Guard, harness.Embedded(), 0)
	if err != nil {
		return harness.Result{}, err
	}
	cfg.Seed = 1
	res, err := harness.Run(t.Context(), cfg)
	if errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	return res, err
}
