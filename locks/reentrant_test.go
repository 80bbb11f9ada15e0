package locks_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockbench/lockbench/locks"
)

// reentrants are the locks that count in Redis, and the field of client A.
func reentrants() map[string]struct {
	lock  func(locks.Env) locks.Locker
	field string
} {
	return map[string]struct {
		lock  func(locks.Env) locks.Locker
		field string
	}{
		"reentrant-hash":           {constructor("reentrant-hash"), "A:1"},
		"reentrant-hash-keep":      {constructor("reentrant-hash-keep"), "A:1"},
		"reentrant-hash-once":      {constructor("reentrant-hash-once"), "A:1"},
		"reentrant-hash-thread-id": {constructor("reentrant-hash-thread-id"), "thread-1"},
		"redisson-style":           {constructor("redisson-style"), "A:1"},
	}
}

func count(t *testing.T, lock locks.Locker, want int64) {
	t.Helper()
	if n, err := lock.(locks.Reentrant).Count(t.Context(), heldKey); err != nil || n != want {
		t.Errorf("count is %d, %v; want %d", n, err, want)
	}
}

// The hash holds the holder's count, and a lease is given back once.
func TestReentrantCounts(t *testing.T) {
	for name, r := range reentrants() {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStand(t)
				lock := s.lock("A", r.lock)
				count(t, lock, 0)
				outer, inner := s.acquire(lock, heldKey, heldTTL), s.acquire(lock, heldKey, heldTTL)
				count(t, lock, 2)
				if got := s.node.HGet(heldKey, r.field); got != "2" {
					t.Errorf("field %s is %q, want 2", r.field, got)
				}
				s.release(inner)
				if err := inner.Release(t.Context()); !errors.Is(err, locks.ErrNotHeld) {
					t.Errorf("second release of the inner lease answered %v, want ErrNotHeld", err)
				}
				count(t, lock, 1)
				s.release(outer)
				if s.node.Exists(heldKey) {
					t.Error("the key is there after the last release")
				}
				count(t, lock, 0)
			})
		})
	}
}

// A release by another is refused and changes nothing (P31), also when it comes from a
// lease that has ended.
func TestReentrantForeignRelease(t *testing.T) {
	for name, r := range reentrants() {
		if name == "reentrant-hash-thread-id" {
			continue // knows no other, see TestReentrantThreadIDCollides
		}
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStand(t)
				late := s.acquire(s.lock("B", r.lock), heldKey, heldTTL)
				s.node.Del(heldKey)
				lock := s.lock("A", r.lock)
				s.acquire(lock, heldKey, heldTTL)
				s.acquire(lock, heldKey, heldTTL)
				if err := late.Release(t.Context()); !errors.Is(err, locks.ErrNotHeld) {
					t.Errorf("foreign release answered %v, want ErrNotHeld", err)
				}
				count(t, lock, 2)
			})
		})
	}
}

// Two processes whose threads have the same number are one holder (P29).
func TestReentrantThreadIDCollides(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStand(t)
		a, b := s.lock("A", constructor("reentrant-hash-thread-id")), s.lock("B", constructor("reentrant-hash-thread-id"))
		s.acquire(a, heldKey, heldTTL)
		s.acquire(b, heldKey, heldTTL)
		count(t, a, 2)
	})
}

// What a re-entry with a shorter TTL does to the lease (P32).
func TestReentrantShorterTTL(t *testing.T) {
	for _, tt := range []struct {
		name string
		lock func(locks.Env) locks.Locker
		want time.Duration
	}{
		{"reentrant-hash", constructor("reentrant-hash"), time.Second},
		{"reentrant-hash-keep", constructor("reentrant-hash-keep"), heldTTL},
		{"reentrant-hash-once", constructor("reentrant-hash-once"), heldTTL},
		{"redisson-style", constructor("redisson-style"), heldTTL},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStand(t)
				lock := s.lock("A", tt.lock)
				outer := s.acquire(lock, heldKey, heldTTL)
				inner := s.acquire(lock, heldKey, time.Second)
				if left := s.node.TTL(heldKey); left != tt.want {
					t.Errorf("%v left after the re-entry, want %v", left, tt.want)
				}
				if e, ok := inner.(locks.Extender); ok {
					if err := e.Extend(t.Context(), time.Second); err != nil {
						t.Fatal(err)
					}
					if left := s.node.TTL(heldKey); left != tt.want {
						t.Errorf("%v left after the extension, want %v", left, tt.want)
					}
				}
				s.release(inner)
				if left := s.node.TTL(heldKey); left != tt.want {
					t.Errorf("%v left after the inner release, want %v", left, tt.want)
				}
				longer := s.acquire(lock, heldKey, 2*heldTTL)
				if left := s.node.TTL(heldKey); left != 2*heldTTL {
					t.Errorf("%v left after a longer re-entry, want %v", left, 2*heldTTL)
				}
				s.release(longer)
				s.release(outer)
			})
		})
	}
}

// A key of another type is an error, and is left alone.
func TestReentrantWrongType(t *testing.T) {
	for name, r := range reentrants() {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStand(t)
				if err := s.node.Set(heldKey, "token"); err != nil {
					t.Fatal(err)
				}
				held, err := s.lock("A", r.lock).Acquire(t.Context(), heldKey, heldTTL)
				if err == nil || held != nil || locks.Classify(err) != locks.Indefinite {
					t.Errorf("acquire answered %v, %v; want an error that is no refusal", held, err)
				}
				if got, err := s.node.Get(heldKey); err != nil || got != "token" || s.node.TTL(heldKey) != 0 {
					t.Errorf("the key is %q with a TTL of %v, %v", got, s.node.TTL(heldKey), err)
				}
			})
		})
	}
}

// The client remembers what Redis has forgotten: a re-entry succeeds while another holds
// the lock (P30), and the release says that all is well (P62).
func TestReentrantLocalAfterExpiry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStand(t)
		a, b := s.lock("A", constructor("reentrant-local")), s.lock("B", constructor("reentrant-local"))
		outer := s.acquire(a, heldKey, time.Second)
		time.Sleep(time.Second)
		other := s.acquire(b, heldKey, time.Minute)
		inner := s.acquire(a, heldKey, time.Second)
		count(t, a, 2)
		if left := time.Until(inner.Deadline()); left != time.Second {
			t.Errorf("the re-entry was told %v, want what it asked for", left)
		}
		if err := inner.(locks.Verifier).Verify(t.Context()); !errors.Is(err, locks.ErrNotHeld) {
			t.Errorf("verify answered %v, want ErrNotHeld", err)
		}
		s.release(inner)
		s.release(outer) // true, and wrong
		if err := outer.Release(t.Context()); !errors.Is(err, locks.ErrNotHeld) {
			t.Errorf("a release more than acquires answered %v, want ErrNotHeld", err)
		}
		s.release(other)
		if s.node.Exists(heldKey) {
			t.Error("B's release left the key")
		}
	})
}

func TestReentrantLocalWithoutRedis(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStand(t)
		lock := s.lock("A", constructor("reentrant-local"))
		held := s.acquire(lock, heldKey, heldTTL)
		s.node.down.Store(true)
		s.release(s.acquire(lock, heldKey, heldTTL)) // neither asks Redis
		s.release(held)                              // true, and the key is still there
		if !s.node.Exists(heldKey) {
			t.Error("the key has gone although Redis could not be reached")
		}
		if _, err := lock.Acquire(t.Context(), heldKey, heldTTL); !errors.Is(err, locks.ErrTaken) {
			t.Errorf("acquire without Redis answered %v, want ErrTaken", err)
		}
	})
}

// Goroutines that share a Locker are one thread to it: the documented misuse.
func TestReentrantSharedByGoroutines(t *testing.T) {
	makes := map[string]func(locks.Env) locks.Locker{"reentrant-local": constructor("reentrant-local")}
	for name, r := range reentrants() {
		makes[name] = r.lock
	}
	for name, lock := range makes {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStand(t)
				lock := s.lock("A", lock)
				first := s.acquire(lock, heldKey, heldTTL)
				var wg sync.WaitGroup
				for range 8 {
					wg.Go(func() {
						held, err := lock.Acquire(t.Context(), heldKey, heldTTL)
						if err != nil {
							t.Errorf("another goroutine's acquire: %v", err)
							return
						}
						if err := held.Release(t.Context()); err != nil {
							t.Errorf("another goroutine's release: %v", err)
						}
					})
				}
				wg.Wait()
				count(t, lock, 1)
				s.release(first)
			})
		})
	}
}

// A refusal says how long the holder has.
func TestRedissonTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStand(t)
		s.acquire(s.lock("A", constructor("redisson-style")), heldKey, heldTTL)
		time.Sleep(time.Second)
		b := s.lock("B", constructor("redisson-style"))
		_, err := b.Acquire(t.Context(), heldKey, heldTTL)
		var taken *locks.TakenError
		if !errors.As(err, &taken) || taken.Remaining != 5*time.Second || !errors.Is(err, locks.ErrTaken) || locks.Classify(err) != locks.Refused {
			t.Errorf("acquire answered %v, want a refusal with 5s left", err)
		}
		s.node.SetTTL(heldKey, 0)
		s.node.HSet("forever", "other", "1")
		if _, err = b.Acquire(t.Context(), "forever", heldTTL); !errors.As(err, &taken) || taken.Remaining >= 0 {
			t.Errorf("acquire of a lock without an end answered %v", err)
		}
	})
}

// The leases of one hold share its renewal, and the last release stops it.
func TestRedissonRenewalOfReentries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStand(t)
		lock := s.lock("A", constructor("redisson-style"))
		outer, inner := s.acquire(lock, heldKey, heldTTL), s.acquire(lock, heldKey, heldTTL/2)
		time.Sleep(3*time.Second + tick)
		s.release(outer)
		time.Sleep(2 * time.Second)
		s.release(inner)
		time.Sleep(3 * heldTTL)
		if got := s.at("hash-extend-keep", heldKey); len(got) != 2 {
			t.Errorf("renewals at %v, want one at 2s and one at 4s", got)
		}
	})
}

// A lease of a hold that was lost does not give back a later hold of the same thread.
func TestRedissonLostHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStand(t)
		lock := s.lock("A", constructor("redisson-style"))
		old := s.acquire(lock, heldKey, heldTTL)
		s.node.Del(heldKey)
		<-old.(locks.Watched).Lost()
		held := s.acquire(lock, heldKey, heldTTL)
		if err := old.Release(t.Context()); !errors.Is(err, locks.ErrNotHeld) {
			t.Errorf("release of the lost lease answered %v, want ErrNotHeld", err)
		}
		count(t, lock, 1)
		if isClosed(held.(locks.Watched).Lost()) {
			t.Error("the new hold is called lost")
		}
		time.Sleep(3 * heldTTL)
		s.release(held)
	})
}

// A release that got no answer can be repeated.
func TestRedissonReleaseAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStand(t)
		held := s.acquire(s.lock("A", constructor("redisson-style")), heldKey, heldTTL)
		s.node.down.Store(true)
		if err := held.Release(context.Background()); err == nil || locks.Classify(err) != locks.Indefinite {
			t.Errorf("release without a connection answered %v", err)
		}
		s.node.down.Store(false)
		s.release(held)
		if s.node.Exists(heldKey) {
			t.Error("the key is there after the second release")
		}
	})
}
