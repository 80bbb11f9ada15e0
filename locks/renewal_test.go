package locks_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockbench/lockbench/internal/wire"
	"github.com/lockbench/lockbench/locks"
)

const (
	heldKey = "orders/42"
	heldTTL = 6 * time.Second
	// tick is a moment later than anything that happens at a full second.
	tick = time.Millisecond
)

// renewing are the locks with a watchdog, and the scripts that renew them.
func renewing() map[string]struct {
	lock  func(locks.Env) locks.Locker
	renew string
} {
	return map[string]struct {
		lock  func(locks.Env) locks.Locker
		renew string
	}{
		"watchdog":       {constructor("watchdog"), "compare-and-pexpire"},
		"redisson-style": {constructor("redisson-style"), "hash-extend-keep"},
	}
}

func TestRenewal(t *testing.T) {
	for name, w := range renewing() {
		t.Run(name, func(t *testing.T) {
			for _, tt := range []struct {
				name  string
				play  func(s *stand, held locks.Lease)
				renew []time.Duration // when renewals reach the server
				lost  bool
				ends  time.Duration // the deadline, counted from the acquire
			}{
				{
					"every third of the TTL", func(*stand, locks.Lease) { time.Sleep(7*time.Second + tick) },
					[]time.Duration{2 * time.Second, 4 * time.Second, 6 * time.Second}, false, 12 * time.Second,
				},
				{
					"stops on release", func(s *stand, held locks.Lease) {
						time.Sleep(3 * time.Second)
						s.release(held)
						time.Sleep(20 * time.Second)
					},
					[]time.Duration{2 * time.Second}, false, 8 * time.Second,
				},
				{
					"stops on a release that fails", func(s *stand, held locks.Lease) {
						time.Sleep(3 * time.Second)
						s.node.down.Store(true)
						if err := held.Release(context.Background()); locks.Classify(err) != locks.Indefinite || err == nil {
							s.t.Errorf("release without a connection answered %v", err)
						}
						s.node.down.Store(false)
						time.Sleep(20 * time.Second)
					},
					[]time.Duration{2 * time.Second}, false, 8 * time.Second,
				},
				{
					"tries again when an answer is lost", func(s *stand, _ locks.Lease) {
						time.Sleep(time.Second)
						s.node.swallow.Store(1)
						time.Sleep(4*time.Second + 2*tick)
					},
					// Given up and repeated a sixth of the TTL later, then a third later.
					[]time.Duration{2 * time.Second, 3 * time.Second, 5 * time.Second}, false, 11 * time.Second,
				},
				{
					"tells at once that the key has gone", func(s *stand, _ locks.Lease) {
						time.Sleep(time.Second)
						s.node.Del(heldKey)
						time.Sleep(time.Second + tick)
					},
					[]time.Duration{2 * time.Second}, true, 6 * time.Second,
				},
			} {
				t.Run(tt.name, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						s := newStand(t)
						held := s.acquire(s.lock("A", w.lock), heldKey, heldTTL)
						tt.play(s, held)
						if got := s.at(w.renew, heldKey); !slices.Equal(got, tt.renew) {
							t.Errorf("renewals at %v, want %v", got, tt.renew)
						}
						if got := isClosed(held.(locks.Watched).Lost()); got != tt.lost {
							t.Errorf("lost is told: %v, want %v", got, tt.lost)
						}
						if got := held.Deadline().Sub(s.start); got != tt.ends {
							t.Errorf("deadline after %v, want %v", got, tt.ends)
						}
					})
				})
			}
		})
	}
}

// The holder is told before the lease can end, however renewals fail (P37).
func TestLossIsToldBeforeExpiry(t *testing.T) {
	for name, w := range renewing() {
		for how, spoil := range map[string]func(*stand, *wire.Link){
			"refused": func(s *stand, _ *wire.Link) { s.node.down.Store(true) },
			"error":   func(s *stand, _ *wire.Link) { s.node.SetError("LOADING") },
			"no reply": func(s *stand, _ *wire.Link) {
				s.node.swallow.Store(1 << 20)
				// What hangs must not renew either.
				s.node.SetError("LOADING")
			},
			"cut":    func(_ *stand, l *wire.Link) { l.Cut() },
			"frozen": func(_ *stand, l *wire.Link) { l.Freeze() },
		} {
			t.Run(name+"/"+how, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := newStand(t)
					link, dial := s.link("A")
					held := s.acquire(s.over("A", dial, w.lock), heldKey, heldTTL)
					time.Sleep(3 * time.Second) // renewed once, at 2 s
					spoil(s, link)
					<-held.(locks.Watched).Lost()
					s.node.SetError("")
					// A tenth of the TTL before 8 s.
					if got, want := time.Since(s.start), 7400*time.Millisecond; got != want {
						t.Errorf("told after %v, want %v", got, want)
					}
					if left := s.node.TTL(heldKey); left != time.Until(held.Deadline()) || left <= 0 {
						t.Errorf("the key has %v left on the server, the holder believes %v", left, time.Until(held.Deadline()))
					}
					link.Thaw()
				})
			})
		}
	}
}

// A holder that hangs does not keep the lock for ever (P39).
func TestMaxHold(t *testing.T) {
	for _, tt := range []struct {
		name string
		lock func(locks.Env) locks.Locker
		told time.Duration // 0: not within an hour
	}{
		{"default, ten TTLs", constructor("watchdog"), 59400 * time.Millisecond},
		{"15s", func(env locks.Env) locks.Locker {
			return locks.NewWatchdogWith(env, locks.WatchdogOptions{MaxHold: 15 * time.Second})
		}, 13400 * time.Millisecond}, // renewed for the last time at 8 s
		{"less than the TTL", func(env locks.Env) locks.Locker {
			return locks.NewWatchdogWith(env, locks.WatchdogOptions{MaxHold: time.Second})
		}, 5400 * time.Millisecond},
		{"none", constructor("watchdog-uncapped"), 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStand(t)
				held := s.acquire(s.lock("A", tt.lock), heldKey, heldTTL)
				select {
				case <-held.(locks.Watched).Lost():
				case <-time.After(time.Hour):
					if tt.told != 0 {
						t.Fatal("not told within an hour")
					}
					s.release(held)
					return
				}
				if got := time.Since(s.start); got != tt.told {
					t.Errorf("told after %v, want %v", got, tt.told)
				}
				time.Sleep(time.Until(held.Deadline()))
				if s.node.Exists(heldKey) {
					t.Error("the key outlives the deadline")
				}
			})
		})
	}
}

// A renewal that is under way while the lease is released neither brings the key back nor
// prolongs what comes after it (P38).
func TestRenewalRacesRelease(t *testing.T) {
	for name, w := range renewing() {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStand(t)
				link, dial := s.link("A")
				held := s.acquire(s.over("A", dial, w.lock), heldKey, heldTTL)
				hold := link.HoldRequest(wire.Match{Names: []string{"EVALSHA"}, Keys: []string{heldKey}})
				<-hold.Seen()
				released := time.Now()
				s.release(held)
				if took := time.Since(released); took != 0 {
					t.Errorf("the release waited %v for the renewal", took)
				}
				if s.node.Exists(heldKey) {
					t.Error("the key is there after the release")
				}
				const short = time.Second
				next := s.acquire(s.lock("B", w.lock), heldKey, short)
				hold.Release()
				synctest.Wait()
				if got := s.at(w.renew, heldKey); len(got) != 1 {
					t.Fatalf("renewals arrived at %v, want the one that was held", got)
				}
				if left := s.node.TTL(heldKey); left != short {
					t.Errorf("the next holder's key has %v left, want its own %v", left, short)
				}
				s.release(next)
				if s.node.Exists(heldKey) {
					t.Error("the key is there after the second release")
				}
				if isClosed(held.(locks.Watched).Lost()) {
					t.Error("the loss of a released lease is told")
				}
			})
		})
	}
}

func TestCloseEndsRenewal(t *testing.T) {
	for name, w := range renewing() {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStand(t)
				lock := s.lock("A", w.lock)
				held := s.acquire(lock, heldKey, heldTTL)
				if err := lock.(interface{ Close() error }).Close(); err != nil {
					t.Fatal(err)
				}
				<-held.(locks.Watched).Lost() // nobody renews it any more
				time.Sleep(heldTTL)
				if s.node.Exists(heldKey) {
					t.Error("the key was renewed after Close")
				}
			})
		})
	}
}

func TestDeadlineIsSafeForConcurrentUse(t *testing.T) {
	for name, w := range renewing() {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStand(t)
				held := s.acquire(s.lock("A", w.lock), heldKey, heldTTL)
				var wg sync.WaitGroup
				for range 4 {
					wg.Go(func() {
						for last := held.Deadline(); time.Since(s.start) < 3*heldTTL; time.Sleep(time.Second / 3) {
							now := held.Deadline()
							if now.Before(last) || !now.After(time.Now()) {
								t.Errorf("deadline went from %v to %v", last.Sub(s.start), now.Sub(s.start))
							}
							last = now
						}
					})
				}
				wg.Wait()
				s.release(held)
			})
		})
	}
}

// The second renewal comes when the lease has ended (P34), and four are all (P36).
func TestRenewNaiveSleepsWholeTTLs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStand(t)
		held := s.acquire(s.lock("A", constructor("renew-naive")), heldKey, heldTTL)
		other := s.lock("B", constructor("setnx-px-lua"))
		time.Sleep(heldTTL)
		if s.node.Exists(heldKey) {
			t.Fatal("the key outlives its TTL by a renewal")
		}
		taken := s.acquire(other, heldKey, time.Hour)
		time.Sleep(20 * heldTTL)
		want := []time.Duration{0, heldTTL, 2 * heldTTL, 3 * heldTTL}
		if got := s.at("compare-and-pexpire", heldKey); !slices.Equal(got, want) {
			t.Errorf("renewals at %v, want %v", got, want)
		}
		s.release(held) // it says that it worked (P62)
		s.release(taken)
	})
}

// One flag stops the renewal of every key (P35), and the next acquire sets it again.
func TestRenewNaiveSharesItsFlag(t *testing.T) {
	for name, again := range map[string]bool{"released": false, "released and acquired again": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStand(t)
				lock := s.lock("A", constructor("renew-naive"))
				first, second := s.acquire(lock, "k1", heldTTL), s.acquire(lock, "k2", heldTTL)
				time.Sleep(heldTTL / 2)
				s.release(first)
				if again {
					defer func(l locks.Lease) { _ = l.Release(context.Background()) }(s.acquire(lock, "k3", heldTTL))
				}
				time.Sleep(10 * heldTTL)
				want := []time.Duration{0}
				if again {
					want = []time.Duration{0, heldTTL, 2 * heldTTL, 3 * heldTTL}
				}
				if got := s.at("compare-and-pexpire", "k2"); !slices.Equal(got, want) {
					t.Errorf("renewals of k2 at %v, want %v", got, want)
				}
				_ = second.Release(t.Context()) // it has ended
			})
		})
	}
}

// Ten threads renew, and the eleventh lease waits until one of them is through (P61).
func TestRenewNaiveHasTenThreads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStand(t)
		lock := s.lock("A", constructor("renew-naive"))
		keys := []string{"k01", "k02", "k03", "k04", "k05", "k06", "k07", "k08", "k09", "k10", "k11"}
		for _, key := range keys {
			s.acquire(lock, key, heldTTL)
		}
		time.Sleep(4*heldTTL + tick)
		for i, key := range keys {
			want := []time.Duration{0, heldTTL, 2 * heldTTL, 3 * heldTTL}
			if i >= 10 {
				want = []time.Duration{4 * heldTTL}
			}
			if got := s.at("compare-and-pexpire", key); !slices.Equal(got, want) {
				t.Errorf("%s was renewed at %v, want %v", key, got, want)
			}
		}
	})
}

// A lease that was released keeps its thread, and its place among those that wait for one.
func TestRenewNaiveQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStand(t)
		lock := s.lock("A", constructor("renew-naive"))
		held := map[string]locks.Lease{}
		for _, key := range []string{"k01", "k02", "k03", "k04", "k05", "k06", "k07", "k08", "k09", "k10", "k11", "k12"} {
			held[key] = s.acquire(lock, key, heldTTL)
		}
		time.Sleep(tick)
		s.release(held["k11"])
		s.release(held["k01"])
		s.acquire(lock, "k13", heldTTL) // sets the flag again, and waits
		time.Sleep(4*heldTTL + tick)
		for key, want := range map[string]int{"k01": 4, "k11": 1, "k12": 1, "k13": 1} {
			if got := s.at("compare-and-pexpire", key); len(got) != want {
				t.Errorf("%s was renewed at %v, want %d times", key, got, want)
			}
		}
	})
}

// A renewal that fails is repeated without being counted, and without end.
func TestRenewNaiveGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStand(t)
		lock := s.lock("A", constructor("renew-naive"))
		held := s.acquire(lock, heldKey, heldTTL)
		time.Sleep(time.Second)
		s.node.down.Store(true)
		time.Sleep(10 * heldTTL)
		s.node.down.Store(false)
		time.Sleep(5 * heldTTL)
		if got := s.at("compare-and-pexpire", heldKey); len(got) != 4 {
			t.Errorf("renewals at %v, want the first, and three when the server is back", got)
		}
		s.release(held) // it says that it worked (P62)
	})
}
