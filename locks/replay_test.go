package locks_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockbench/lockbench/internal/contract"
	"github.com/lockbench/lockbench/internal/redis/cluster"
	"github.com/lockbench/lockbench/internal/redis/embedded"
	"github.com/lockbench/lockbench/internal/sim"
	"github.com/lockbench/lockbench/internal/testkit/effort"
	"github.com/lockbench/lockbench/locks"
)

// What runs in the background, and who waits for messages, does so at instants of its own:
// the same seed gives the same run.
func TestBackgroundReplays(t *testing.T) {
	for name, build := range map[string]func(locks.Env) locks.Locker{
		"renew-naive":    constructor("renew-naive"),
		"watchdog":       constructor("watchdog"),
		"redisson-style": constructor("redisson-style"),
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(effort.Count(5, 5)) {
				first := replay(t, seed, build)
				if name == "redisson-style" && !strings.Contains(first, "woken") {
					t.Fatalf("seed %d: nobody was woken by a message:\n%s", seed, first)
				}
				for range 3 {
					if again := replay(t, seed, build); again != first {
						t.Fatalf("seed %d gave two runs:\n%s\nand\n%s", seed, first, again)
					}
				}
			}
		})
	}
}

// replay lets clients hold two locks each for longer than their TTL, and returns who did
// what when. One client is cut off for a while.
func replay(t *testing.T, seed uint64, build func(locks.Env) locks.Locker) string {
	t.Helper()
	const clients, rounds, ttl = 4, 4, time.Second
	var mu sync.Mutex
	var log strings.Builder
	err := sim.Run(seed, time.Minute, func(s *sim.World) error {
		c, err := embedded.New(s, cluster.Topology{Masters: 1}, embedded.Options{})
		if err != nil {
			return err
		}
		w := contract.On(c, locks.Spec{Masters: 1}, "orders/42")
		w.InBubble, w.Clock = true, func() locks.Clock { return s.Source() }
		w.Rand = func(client string) io.Reader { return seeded(client).Rand }
		w.Sleeper = w.Clock()
		var wg sync.WaitGroup
		for i := range clients {
			env := w.Client(fmt.Sprint("client", i))
			lock := build(env)
			wg.Go(func() {
				note := func(what string, err error) {
					mu.Lock()
					defer mu.Unlock()
					fmt.Fprintln(&log, s.Now(), i, what, err)
				}
				for range rounds {
					_ = env.Clock.Sleep(context.Background(), time.Duration(i+1)*7*time.Millisecond)
					for _, key := range []string{"k1", "k2"} {
						held := waitFor(env, lock, key, ttl, note)
						_ = env.Clock.Sleep(context.Background(), 1700*time.Millisecond)
						note("release "+key, held.Release(context.Background()))
					}
				}
				if closer, ok := lock.(io.Closer); ok {
					_ = closer.Close()
				}
			})
			if i == 0 {
				wg.Go(func() {
					w.Sleep(3 * time.Second)
					w.Cut(env.Client)
					w.Sleep(700 * time.Millisecond)
					w.Heal(env.Client)
				})
			}
		}
		wg.Wait()
		w.Close()
		w.Sleep(time.Hour) // longer than anything that a lock leaves running behind a closed client
		if !s.Replayable() {
			err = fmt.Errorf("at %d instants two sources acted at once", s.Ambiguous())
		}
		return errors.Join(err, c.Close())
	})
	if err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	return log.String()
}

// waitFor acquires key, and sleeps on messages in between if the lock sends any.
func waitFor(env locks.Env, lock locks.Locker, key string, ttl time.Duration, note func(string, error)) locks.Lease {
	ctx := context.Background()
	var wake <-chan struct{}
	if n, ok := lock.(locks.Notifier); ok {
		c, end, err := n.Subscribe(ctx, key)
		note("subscribe "+key, err)
		if err == nil {
			defer end()
			wake = c
		}
	}
	for {
		held, err := lock.Acquire(ctx, key, ttl)
		note("acquire "+key, err)
		if err == nil {
			return held
		}
		pause := 50 * time.Millisecond
		var taken *locks.TakenError
		if errors.As(err, &taken) && wake != nil {
			pause = taken.Remaining + time.Millisecond
		}
		select {
		case <-wake:
			note("woken for "+key, nil)
		case <-env.Clock.After(pause):
		}
	}
}
