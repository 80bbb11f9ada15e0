package examples_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/lockbench/lockbench/internal/testkit/effort"
	"github.com/lockbench/lockbench/internal/worker"
	"github.com/lockbench/lockbench/locks"
)

// TestReleaseRefused has a client release what it was refused, ask whether it still holds the lock, and acquire it without saying for how long, in each language whose workers can be asked to.
func TestReleaseRefused(t *testing.T) {
	effort.Real(t)
	for _, language := range []string{"go", "java", "node", "php", "python", "ruby"} {
		t.Run(language, func(t *testing.T) {
			command := careless(t, language)
			releaseRefused(newStand(t, command, "none"))
			verify(newStand(t, command, "none"))
			withoutTTL(newStand(t, command, "elapsed"))
		})
	}
}

// releaseRefused checks that what the latest acquire was refused is released, as often as one likes, that this changes nothing,
// and that nothing else can be asked of it.
func releaseRefused(s *stand) {
	t := s.t
	held, ctx := s.acquire(s.a), s.within(time.Minute)
	if !s.b.Said().Promises.ReleasesRefused {
		t.Fatalf("it promises %+v", s.b.Said().Promises)
	}
	refuse := func(c *worker.Client) locks.Lease {
		t.Helper()
		_, err := c.Acquire(ctx, "orders/42", time.Minute)
		refused, ok := errors.AsType[*locks.RefusedError](err)
		if !ok || !errors.Is(err, locks.ErrTaken) {
			t.Fatalf("acquire of a lock that is taken: %v", err)
		}
		return refused.Lease
	}
	notHeld := func(release func(context.Context) error) {
		t.Helper()
		if err := release(ctx); !errors.Is(err, locks.ErrNotHeld) {
			t.Errorf("release: %v, want ErrNotHeld", err)
		}
	}
	refused := refuse(s.b)
	if !s.b.Said().Extends {
		t.Fatal("it does not extend")
	}
	notHeld(func(ctx context.Context) error { return refused.(locks.Extender).Extend(ctx, time.Minute) })
	notHeld(refused.Release)
	notHeld(refuse(s.a).Release) // that of the holder itself, which holds it all the same
	must(t, held.Release(ctx))
	must(t, s.acquire(s.b).Release(ctx))
	var broken *worker.BrokenError
	if err := refused.Release(ctx); !errors.As(err, &broken) {
		t.Errorf("release of what was refused before the latest acquire: %v", err)
	}
}

// verify checks that a holder asks whether it still is one.
func verify(s *stand) {
	held, ctx := s.acquire(s.a), s.within(time.Minute)
	if !s.a.Said().Promises.Verifies {
		s.t.Fatalf("it promises %+v", s.a.Said().Promises)
	}
	must(s.t, held.Verify(ctx))
	s.server.Del("lock:orders/42")
	if err := held.Verify(ctx); !errors.Is(err, locks.ErrNotHeld) {
		s.t.Errorf("verify without the key: %v, want ErrNotHeld", err)
	}
	must(s.t, s.acquire(s.b).Release(ctx))
}

// withoutTTL checks that a holder who did not say for how long has the lease that the lock gives by default, is told the end
// that is promised, or none, and works until then.
func withoutTTL(s *stand) {
	t, ctx, before := s.t, s.within(time.Minute), time.Now()
	said := s.a.Said().Promises
	if !said.WithoutTTL {
		t.Fatalf("it promises %+v", said)
	}
	got, err := s.a.AcquireDefault(ctx, "orders/42")
	must(t, err)
	if left := s.server.TTL("lock:orders/42"); left != 30*time.Second {
		t.Errorf("the key lives for %v", left)
	}
	lease, ends := got.(*worker.Lease), got.Deadline()
	switch {
	case said.DefaultTTL == 0 && ends.IsZero():
	case said.DefaultTTL == 30*time.Second && !ends.Before(before.Add(29*time.Second)) && !ends.After(time.Now().Add(30*time.Second)):
	default:
		t.Errorf("its end is %v after the call, and it promises %v", ends.Sub(before), said.DefaultTTL)
	}
	if _, err := lease.Write(ctx, 1); err != nil {
		t.Errorf("write: %v", err)
	}
	if _, err := s.b.AcquireDefault(ctx, "orders/42"); !errors.Is(err, locks.ErrTaken) {
		t.Errorf("acquire of a lock that is taken: %v", err)
	}
	must(t, lease.Release(ctx))
}
