package explore_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lockbench/lockbench/internal/explore"
	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/schedule"
	"github.com/lockbench/lockbench/internal/testkit/locktest"
	"github.com/lockbench/lockbench/locks"
)

// slow is a lock on a machine that is too busy: as often as told, an acquire of a key that somebody else holds is refused late.
type slow struct {
	locks.Locker

	left *atomic.Int32
}

func (s *slow) Acquire(ctx context.Context, key string, ttl time.Duration) (locks.Lease, error) {
	lease, err := s.Locker.Acquire(ctx, key, ttl)
	if errors.Is(err, locks.ErrTaken) && s.left.Add(-1) >= 0 {
		<-time.After(ttl / 2)
	}
	return lease, err
}

// TestBusyServers: a lock that seems to wait where a program lets it try once is played again on real servers, and only one that
// always seems to is said not to be applicable.
func TestBusyServers(t *testing.T) {
	locktest.NeedRedis(t)
	s, err := schedule.Parse("lockbench schedule 1\nname held\ntitle one holds, the other tries\nclients 2\nfaultless\n\nA acquire\nB acquire\nA release\n")
	if err != nil {
		t.Fatal(err)
	}
	s.RealTTL = 5 * time.Second // of which a machine that really is busy takes a small part
	for name, tc := range map[string]struct {
		late  int32
		waits bool
	}{"once": {1, false}, "always": {1000, true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lock := find(t, "setnx-px-lua")
			newLock, left := lock.New, new(atomic.Int32)
			left.Store(tc.late)
			lock.New = func(env locks.Env) locks.Locker { return &slow{Locker: newLock(env), left: left} }
			out, err := explore.RunOnServers(t.Context(), explore.Program{Schedule: s}, lock, harness.Process(), nil)
			if harness.SeemsToWait(err) != tc.waits || err != nil && !tc.waits || len(out.Fails) > 0 {
				t.Errorf("%+v, %v; want that it seems to wait: %v", out.Fails, err, tc.waits)
			}
			if tried := tc.late - max(left.Load(), 0); tc.waits && tried < 3 || !tc.waits && tried != 1 {
				t.Errorf("it was refused late %d times", tried)
			}
		})
	}
}
