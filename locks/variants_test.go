package locks_test

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockbench/lockbench/internal/wire"
	"github.com/lockbench/lockbench/locks"
)

// What is left of D when its renewals come in time: there are four of them (P36).
func TestRenewNaiveEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStand(t)
		held := s.acquire(s.lock("A", constructor("renew-naive-early")), heldKey, heldTTL)
		time.Sleep(2*heldTTL - tick)
		if !s.node.Exists(heldKey) {
			t.Error("the key is gone before a TTL after the fourth renewal")
		}
		time.Sleep(tick)
		want := []time.Duration{0, heldTTL / 3, 2 * heldTTL / 3, heldTTL}
		if got := s.at("compare-and-pexpire", heldKey); !slices.Equal(got, want) || s.node.Exists(heldKey) {
			t.Errorf("renewals at %v, want %v; the key is there: %v", got, want, s.node.Exists(heldKey))
		}
		s.release(held) // it says that it worked (P62)
	})
}

// A watchdog that tells nobody: the lease ends under its holder (P37).
func TestWatchdogUntold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStand(t)
		link, dial := s.link("A")
		held := s.acquire(s.over("A", dial, constructor("watchdog-untold")), heldKey, heldTTL)
		time.Sleep(heldTTL + tick)
		if !s.node.Exists(heldKey) {
			t.Error("it was not renewed")
		}
		link.Cut()
		time.Sleep(2 * heldTTL)
		if s.node.Exists(heldKey) || isClosed(held.(locks.Watched).Lost()) {
			t.Errorf("the key is there: %v, the loss was told: %v; want neither", s.node.Exists(heldKey), isClosed(held.(locks.Watched).Lost()))
		}
	})
}

// A renewal that the release has overtaken brings the key back and keeps it (P38). One that
// the release finds asleep does not.
func TestWatchdogRecreate(t *testing.T) {
	for name, underWay := range map[string]bool{"renewal under way": true, "renewal asleep": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStand(t)
				link, dial := s.link("A")
				held := s.acquire(s.over("A", dial, constructor("watchdog-recreate")), heldKey, heldTTL)
				if underWay {
					hold := link.HoldRequest(wire.Match{Names: []string{"EVALSHA"}, Keys: []string{heldKey}})
					<-hold.Seen()
					s.release(held)
					hold.Release()
				} else {
					time.Sleep(heldTTL/3 + tick)
					s.release(held)
				}
				if time.Sleep(5 * heldTTL); s.node.Exists(heldKey) != underWay {
					t.Errorf("five TTLs after the release the key is there: %v, want %v", s.node.Exists(heldKey), underWay)
				}
			})
		})
	}
}

// A request that is sent twice counts once, where C's counts twice (P33).
func TestReentrantResend(t *testing.T) {
	for _, tt := range []struct {
		name string
		lock func(locks.Env) locks.Locker
		want int64
	}{
		{"reentrant-hash", constructor("reentrant-hash"), 2},
		{"reentrant-hash-once", constructor("reentrant-hash-once"), 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStand(t)
				link, dial := s.link("A")
				lock := s.over("A", dial, tt.lock)
				s.release(s.acquire(lock, heldKey, heldTTL)) // the server knows the script now
				link.Repeat(wire.Match{Keys: []string{heldKey}})
				held := s.acquire(lock, heldKey, heldTTL)
				count(t, lock, tt.want)
				s.release(held)
				if left := tt.want > 1; s.node.Exists(heldKey) != left {
					t.Errorf("the key is there after the release: %v, want %v", s.node.Exists(heldKey), left)
				}
			})
		})
	}
}

// A release of an acquire counts once, too, and never for another acquire.
func TestReentrantOnceReleases(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStand(t)
		link, dial := s.link("A")
		lock := s.over("A", dial, constructor("reentrant-hash-once"))
		late := s.acquire(lock, heldKey, heldTTL)
		s.node.Del(heldKey) // its lease ended
		outer, inner := s.acquire(lock, heldKey, heldTTL), s.acquire(lock, heldKey, heldTTL)
		if err := late.Release(t.Context()); !errors.Is(err, locks.ErrNotHeld) {
			t.Errorf("the release of a lease that has ended answered %v, want ErrNotHeld", err)
		}
		count(t, lock, 2)
		link.Repeat(wire.Match{Keys: []string{heldKey}})
		if err := inner.Release(t.Context()); !errors.Is(err, locks.ErrNotHeld) { // by the second of two
			t.Errorf("a release that is sent twice answered %v, want ErrNotHeld", err)
		}
		count(t, lock, 1)
		s.release(outer)
		if s.node.Exists(heldKey) {
			t.Error("the key is there after the last release")
		}
	})
}
