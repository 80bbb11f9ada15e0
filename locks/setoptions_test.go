package locks_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/alicebob/miniredis/v2/server"
	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench/internal/libraries"
	"github.com/lockbench/lockbench/locks"
)

func newSetOptions(t *testing.T, env locks.Env, options locks.SetOptions) locks.Locker {
	t.Helper()
	lock, err := locks.NewSetOptions(env, options)
	if err != nil {
		t.Fatal(err)
	}
	return lock
}

// tokenA is the token that repeat(0xaa) makes.
var tokenA = strings.Repeat("aa", 20)

func TestSetOptionsCommands(t *testing.T) {
	const ttl = 3 * time.Second
	// 0.3 ms past the second 946684800, at which time begins in a bubble.
	const now = 300 * time.Microsecond
	for _, tt := range []struct {
		options locks.SetOptions
		command string
		server  time.Duration // TTL on the server, of which the client was told ttl
	}{
		{locks.SetOptions{}, "PX 3000", ttl},
		{locks.SetOptions{Expiry: locks.EX}, "EX 3", ttl},
		{locks.SetOptions{Expiry: locks.PXAT}, "PXAT 946684803001", ttl + 700*time.Microsecond},
		{locks.SetOptions{Expiry: locks.EXAT}, "EXAT 946684804", ttl + time.Second - now},
		{locks.SetOptions{Expiry: locks.KeepTTL}, "KEEPTTL", 0},
		{locks.SetOptions{Get: true}, "PX 3000 GET", ttl},
		{locks.SetOptions{Expiry: locks.EX, Get: true}, "EX 3 GET", ttl},
		{locks.SetOptions{Expiry: locks.KeepTTL, Get: true}, "KEEPTTL GET", 0},
	} {
		t.Run(tt.command, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				node, env := loaded(t)
				time.Sleep(now)
				env.Rand = repeat(0xaa)
				seen := follow(node)
				begin := time.Now()
				held, err := newSetOptions(t, env, tt.options).Acquire(t.Context(), lockKey, ttl)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff([]string{"SET orders/42 " + tokenA + " NX " + tt.command}, seen.take()); diff != "" {
					t.Errorf("commands (-want +got):\n%s", diff)
				}
				if got := node.TTL(lockKey); got != tt.server {
					t.Errorf("the key's TTL is %v, want %v", got, tt.server)
				}
				want := begin.Add(ttl)
				if tt.options.Expiry == locks.KeepTTL {
					want = time.Time{}
				}
				if !held.Deadline().Equal(want) {
					t.Errorf("deadline is %v, want %v", held.Deadline(), want)
				}
				if err := held.Release(t.Context()); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// The contract holds for every choice of options that makes a lease.
func TestSetOptionsContract(t *testing.T) {
	sound, err := libraries.Catalogue().Find("set-options")
	if err != nil {
		t.Fatal(err)
	}
	for _, options := range []locks.SetOptions{
		{Get: true}, {Expiry: locks.EX}, {Expiry: locks.PXAT}, {Expiry: locks.PXAT, Get: true},
	} {
		t.Run(fmt.Sprintf("%v get %v", options.Expiry, options.Get), func(t *testing.T) {
			spec := sound
			spec.WholeSeconds = options.Expiry == locks.EX
			spec.New = func(env locks.Env) locks.Locker { return newSetOptions(t, env, options) }
			hold(t, spec, applying(spec), false, inVirtualTime(spec))
		})
	}
}

func TestSetOptionsRefusesOptions(t *testing.T) {
	for _, options := range []locks.SetOptions{{Expiry: locks.KeepTTL + 1}, {Expiry: 255, Get: true}} {
		lock, err := locks.NewSetOptions(seeded("A"), options)
		var input *locks.InputError
		if lock != nil || !errors.As(err, &input) || input.Field != "expiry" {
			t.Errorf("%+v: %v, %v; want an InputError about the expiry", options, lock, err)
		}
	}
}

func TestSetOptionsGet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		node, env := loaded(t)
		env.Rand = repeat(0xaa)
		lock := newSetOptions(t, env, locks.SetOptions{Get: true})
		set(t, node, "other")
		_, err := lock.Acquire(t.Context(), lockKey, time.Second)
		var holder *locks.HolderError
		if !errors.As(err, &holder) || holder.Token != "other" || !errors.Is(err, locks.ErrTaken) {
			t.Errorf("acquire of a taken lock answered %v, want its holder", err)
		}

		// The key of this very attempt: SET was sent before, and its reply was lost.
		set(t, node, tokenA)
		if held, err := lock.Acquire(t.Context(), lockKey, time.Second); err != nil {
			t.Errorf("acquire that meets its own key answered %v, want the lease", err)
		} else if err := held.Release(t.Context()); err != nil {
			t.Error(err)
		}
		set(t, node, tokenA)
		if _, err := newSetOptions(t, env, locks.SetOptions{}).Acquire(t.Context(), lockKey, time.Second); !errors.Is(err, locks.ErrTaken) {
			t.Errorf("without GET: %v, want ErrTaken", err)
		}

		node.Del(lockKey)
		node.HSet(lockKey, "field", "value")
		if _, err := lock.Acquire(t.Context(), lockKey, time.Second); err == nil || locks.Classify(err) != locks.Indefinite {
			t.Errorf("a key of another type: %v, want an indefinite error", err)
		}
	})
}

// KEEPTTL makes no lease of a free lock, until Extend does.
func TestSetOptionsKeepTTL(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		node, env := loaded(t)
		held, err := newSetOptions(t, env, locks.SetOptions{Expiry: locks.KeepTTL}).Acquire(t.Context(), lockKey, time.Second)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		if err := held.(locks.Verifier).Verify(t.Context()); err != nil || !held.Deadline().IsZero() {
			t.Errorf("after an hour: %v, deadline %v; want it held for ever", err, held.Deadline())
		}
		want := time.Now().Add(time.Minute)
		if err := held.(locks.Extender).Extend(t.Context(), time.Minute); err != nil {
			t.Fatal(err)
		}
		if !held.Deadline().Equal(want) || node.TTL(lockKey) != time.Minute {
			t.Errorf("extended: deadline %v, TTL %v; want %v", held.Deadline(), node.TTL(lockKey), want)
		}
	})
}

// An older server's syntax error says which version is needed.
func TestSetOptionsOldServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		node, env := loaded(t)
		follow(node).answer("SET", func(peer *server.Peer) bool { peer.WriteError("ERR syntax error"); return true })
		_, err := newSetOptions(t, env, locks.SetOptions{Get: true}).Acquire(t.Context(), lockKey, time.Second)
		if err == nil || !strings.Contains(err.Error(), "Redis 7.0") {
			t.Errorf("acquire answered %v, want the version that is needed", err)
		}
	})
}

// Whatever an Extend of unknown outcome did, the deadline is not after the end.
func TestExtendIndefinite(t *testing.T) {
	const lease = 10 * time.Second
	for _, tt := range []struct {
		name    string
		options locks.SetOptions
		ttl     time.Duration
		want    time.Duration // from the acquire
	}{
		{"longer", locks.SetOptions{}, time.Minute, lease},
		{"shorter", locks.SetOptions{}, 5 * time.Second, 6 * time.Second},
		{"no end before", locks.SetOptions{Expiry: locks.KeepTTL}, 5 * time.Second, 6 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				node, env := loaded(t)
				start := time.Now()
				held, err := newSetOptions(t, env, tt.options).Acquire(t.Context(), lockKey, lease)
				if err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Second)
				node.swallow.Store(1)
				ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
				defer cancel()
				if err := held.(locks.Extender).Extend(ctx, tt.ttl); err == nil || locks.Classify(err) != locks.Indefinite {
					t.Fatalf("extend answered %v, want an indefinite error", err)
				}
				if got := held.Deadline().Sub(start); got != tt.want {
					t.Errorf("deadline is %v after the acquire, want %v", got, tt.want)
				}
			})
		})
	}
}
