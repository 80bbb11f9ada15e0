package player_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/player"
	"github.com/lockbench/lockbench/locks"
)

// keyedLock has leases that are lost by their keys.
type keyedLock struct{ lost map[string]chan struct{} }

func (l keyedLock) Acquire(_ context.Context, key string, _ time.Duration) (locks.Lease, error) {
	return &watchedLock{lost: l.lost[key]}, nil
}

// TestLostKeepsOtherKeys checks that the loss of a lease ends the sections of its key, and
// neither those around them nor those inside.
func TestLostKeepsOtherKeys(t *testing.T) {
	lock := keyedLock{map[string]chan struct{}{}}
	events := recorded(t, lock, func(ctx context.Context, c *player.Client) {
		c.Enter = func(locks.Lease) player.Section { return nothing{} }
		for _, key := range []string{"outer", "middle", "inner"} {
			lock.lost[key] = make(chan struct{}) // in the bubble, or its time would stand still
			if err := c.Acquire(ctx, key, time.Second); err != nil {
				t.Error(err)
			}
		}
		close(lock.lost["middle"])
		_ = c.Clock.Sleep(ctx, time.Millisecond)
		if c.Depth() != 2 {
			t.Errorf("it believes in %d leases, want 2", c.Depth())
		}
		_, _ = c.Release(ctx), c.Release(ctx)
		close(lock.lost["inner"]) // which it has released
		_ = c.Clock.Sleep(ctx, time.Millisecond)
	})
	var got []string
	for _, e := range events[6:] {
		if e.Type != histories.OK {
			got = append(got, string(e.F)+" "+e.Key)
		}
	}
	if want := []string{"lost middle", "release inner", "release outer"}; !slices.Equal(got, want) {
		t.Errorf("recorded %v, want %v", got, want)
	}
	if err := histories.Validate(events); err != nil {
		t.Error(err)
	}
}

// TestAbandon checks that whoever walks away believes in nothing, of whatever key, and says
// nothing to the lock.
func TestAbandon(t *testing.T) {
	events := recorded(t, &fakeLock{}, func(ctx context.Context, c *player.Client) {
		c.Enter = func(locks.Lease) player.Section { return nothing{} }
		for _, key := range []string{"k", "l"} {
			_ = c.Acquire(ctx, key, time.Second)
		}
		c.Abandon("hangs")
		if c.Holds() || !errors.Is(c.Release(ctx), player.ErrNotHolding) {
			t.Error("it still holds something")
		}
		c.Abandon("has nothing to leave")
	})
	holds := histories.Holds(events)
	if len(events) != 6 || len(holds) != 2 || events[4].Value != "hangs" {
		t.Fatalf("recorded %+v", events)
	}
	for _, h := range holds {
		if h.End != histories.Abandon {
			t.Errorf("the hold of %s ended by %q", h.Key, h.End)
		}
	}
}
