package locks_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockbench/lockbench/locks"
)

// loaded is faultyEnv with the scripts sent ahead.
func loaded(t *testing.T) (*faulty, locks.Env) {
	t.Helper()
	nodes, env := faultyEnv(t, 1)
	if err := locks.Load(t.Context(), env.Nodes[0]); err != nil {
		t.Fatal(err)
	}
	return nodes[0], env
}

// tries counts the acquires and releases that were sent.
func (s *script) tries() int { return strings.Count(s.names(), "EVALSHA") }

func TestLuaUUIDToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		node, env := loaded(t)
		lock, seen := constructor("lua-uuid-repaired")(env), map[string]bool{}
		format := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\.` +
			fmt.Sprint(time.Now().UnixMilli()) + `$`)
		for range 20 {
			held, err := lock.Acquire(t.Context(), lockKey, time.Second)
			if err != nil {
				t.Fatal(err)
			}
			token, _ := node.Get(lockKey)
			if !format.MatchString(token) || seen[token] {
				t.Errorf("token is %q, want a new UUID and the time", token)
			}
			seen[token] = true
			if err := held.Release(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestLuaUUIDDoubleLock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		node, env := loaded(t)
		lock, seen := locks.NewLuaUUIDRepairedPolling(env, locks.Polling{Tries: 5, Interval: time.Second}), follow(node)
		first, err := lock.Acquire(t.Context(), lockKey, time.Second)
		if err != nil {
			t.Fatal(err)
		}
		seen.take()
		refused := func(when string) {
			t.Helper()
			start := time.Now()
			_, err := lock.Acquire(t.Context(), lockKey, time.Second)
			if !errors.Is(err, locks.ErrAlreadyLocked) || locks.Classify(err) != locks.Refused {
				t.Errorf("%s: second acquire answered %v, want ErrAlreadyLocked", when, err)
			}
			if n := seen.tries(); n != 0 || time.Since(start) != 0 {
				t.Errorf("%s: it sent %d commands and took %v, want nothing at once", when, n, time.Since(start))
			}
		}
		refused("held")
		if _, err := lock.Acquire(t.Context(), lockKey+"/other", time.Second); err != nil {
			t.Errorf("another key: %v", err)
		}
		if err := first.(locks.Extender).Extend(t.Context(), 3*time.Second); err != nil {
			t.Fatal(err)
		}
		seen.take()
		time.Sleep(3*time.Second - time.Millisecond)
		refused("extended")
		time.Sleep(time.Millisecond)
		second, err := lock.Acquire(t.Context(), lockKey, time.Second)
		if err != nil {
			t.Fatalf("after the deadline: %v", err)
		}
		// The late release of the first lease must not let go of the second.
		if err := first.Release(t.Context()); !errors.Is(err, locks.ErrNotHeld) {
			t.Errorf("late release answered %v, want ErrNotHeld", err)
		}
		seen.take()
		refused("held again")
		if err := second.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := lock.Acquire(t.Context(), lockKey, time.Second); err != nil {
			t.Errorf("after the release: %v", err)
		}
	})
}

// A lease that is over is not asked about again, one whose release went wrong is.
func TestLuaUUIDRelease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		node, env := loaded(t)
		lock, seen := constructor("lua-uuid-repaired")(env), follow(node)
		held, err := lock.Acquire(t.Context(), lockKey, time.Second)
		if err != nil {
			t.Fatal(err)
		}
		node.down.Store(true)
		if err := held.Release(t.Context()); err == nil || locks.Classify(err) != locks.Indefinite {
			t.Errorf("release without a server answered %v, want an indefinite error", err)
		}
		node.down.Store(false)
		if err := held.Release(t.Context()); err != nil {
			t.Errorf("release with a server answered %v", err)
		}
		seen.take()
		if err := held.Release(t.Context()); !errors.Is(err, locks.ErrNotHeld) || seen.tries() != 0 {
			t.Errorf("release of a lease that is over answered %v, want ErrNotHeld and nothing sent", err)
		}
	})
}

func TestLuaUUIDWholeSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		node, env := loaded(t)
		lock, seen := constructor("lua-uuid-repaired")(env), follow(node)
		_, err := lock.Acquire(t.Context(), lockKey, 1500*time.Millisecond)
		var input *locks.InputError
		if !errors.As(err, &input) || len(seen.take()) != 0 {
			t.Errorf("acquire for 1.5s answered %v, want an InputError and nothing sent", err)
		}
	})
}

// polls is what an acquire of a lock that never gets free does.
type polls struct {
	tries int
	took  time.Duration
}

func TestLuaUUIDPolling(t *testing.T) {
	const interval = 100 * time.Millisecond
	for _, tt := range []struct {
		max            int
		fixed, printed polls
	}{
		{0, polls{1, 0}, polls{0, 0}},
		{1, polls{1, 0}, polls{0, 0}}, // as printed: never, P48
		{2, polls{2, interval}, polls{1, interval}},
		{5, polls{5, 4 * interval}, polls{4, 4 * interval}},
	} {
		for name, variant := range map[string]struct {
			newLock func(locks.Env, locks.Polling) locks.Locker
			want    polls
		}{
			"repaired":   {locks.NewLuaUUIDRepairedPolling, tt.fixed},
			"as printed": {locks.NewLuaUUIDOneTryPolling, tt.printed},
		} {
			t.Run(fmt.Sprintf("%s max %d", name, tt.max), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					node, env := loaded(t)
					lock := variant.newLock(env, locks.Polling{Tries: tt.max, Interval: interval})

					// On a free lock it depends on whether there is a try at all.
					held, err := lock.Acquire(t.Context(), lockKey, time.Second)
					switch {
					case variant.want.tries > 0 && err != nil:
						t.Errorf("free lock: %v", err)
					case variant.want.tries == 0 && !errors.Is(err, locks.ErrTaken):
						t.Errorf("free lock: %v, %v; want ErrTaken", held, err)
					}
					if held != nil {
						if err := held.Release(t.Context()); err != nil {
							t.Fatal(err)
						}
					}

					set(t, node, "other")
					seen, start := follow(node), time.Now()
					if _, err := lock.Acquire(t.Context(), lockKey, time.Second); !errors.Is(err, locks.ErrTaken) {
						t.Errorf("taken lock: %v, want ErrTaken", err)
					}
					if got := (polls{seen.tries(), time.Since(start)}); got != variant.want {
						t.Errorf("taken lock: %+v, want %+v", got, variant.want)
					}
				})
			})
		}
	}
}

func TestLuaUUIDPollingGetsTheLock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		node, env := loaded(t)
		set(t, node, "other")
		node.SetTTL(lockKey, 250*time.Millisecond)
		start := time.Now()
		held, err := locks.NewLuaUUIDRepairedPolling(env, locks.Polling{Tries: 10, Interval: 100 * time.Millisecond}).
			Acquire(t.Context(), lockKey, time.Second)
		if err != nil || time.Since(start) != 300*time.Millisecond {
			t.Fatalf("acquire answered %v after %v", err, time.Since(start))
		}
		// The deadline counts from the try that worked.
		if want := start.Add(1300 * time.Millisecond); !held.Deadline().Equal(want) {
			t.Errorf("deadline is %v, want %v", held.Deadline(), want)
		}
	})
}

// A wait that the caller gives up left nothing behind: it is a refusal.
func TestLuaUUIDPollingCancelled(t *testing.T) {
	for name, newLock := range map[string]func(locks.Env, locks.Polling) locks.Locker{
		"repaired": locks.NewLuaUUIDRepairedPolling, "as printed": locks.NewLuaUUIDOneTryPolling,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				node, env := loaded(t)
				set(t, node, "other")
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(50*time.Millisecond, cancel)
				_, err := newLock(env, locks.Polling{Tries: 10, Interval: time.Second}).Acquire(ctx, lockKey, time.Second)
				if !errors.Is(err, locks.ErrTaken) || errors.Is(err, context.Canceled) != (name == "repaired") {
					t.Errorf("acquire answered %v, want ErrTaken, and the context's error of the repaired lock", err)
				}
			})
		})
	}
}
