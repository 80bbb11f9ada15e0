package locktest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockbench/lockbench/locks"
)

const (
	key = "orders/42"
	// lease is short enough to be waited for on a real server, and long enough for a
	// busy machine to use.
	lease = 600 * time.Millisecond
	// long is a lease that never ends before its test does.
	long = time.Minute
)

func mutualExclusion(ctx context.Context, spec locks.Spec, w World) error {
	const clients, rounds = 8, 5
	var (
		wg      sync.WaitGroup
		inside  atomic.Int64
		counter atomic.Int64 // read and written as two steps, so that an overlap loses an update
		errs    = make([]error, clients)
	)
	for i := range clients {
		env := w.Client(fmt.Sprintf("client-%d", i))
		lock := spec.New(env)
		wg.Go(func() {
			for range rounds {
				held, err := compete(ctx, env, lock, time.Duration(2*i+3)*time.Millisecond)
				if err != nil {
					errs[i] = err
					return
				}
				if n := inside.Add(1); n != 1 {
					errs[i] = fmt.Errorf("%d clients hold the lock at once", n)
				}
				seen := counter.Load()
				w.Sleep(time.Millisecond)
				counter.Store(seen + 1)
				inside.Add(-1)
				if err := held.Release(ctx); err != nil {
					errs[i] = fmt.Errorf("release: %w", err)
					return
				}
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if got := counter.Load(); got != clients*rounds {
		return fmt.Errorf("counter is %d after %d increments: %d updates were lost", got, clients*rounds, clients*rounds-got)
	}
	return nil
}

func refusal(ctx context.Context, spec locks.Spec, w World) error {
	held, err := acquire(ctx, spec, w, "A", long)
	if err != nil {
		return err
	}
	if err := mustBeTaken(ctx, spec, w); err != nil {
		return err
	}
	// The refused attempt left nothing behind that stops the holder or the next one.
	if err := held.Release(ctx); err != nil {
		return fmt.Errorf("release after a refusal: %w", err)
	}
	_, err = acquire(ctx, spec, w, "B", long)
	return err
}

func mustBeTaken(ctx context.Context, spec locks.Spec, w World) error {
	held, err := spec.New(w.Client("B")).Acquire(ctx, key, long)
	if !errors.Is(err, locks.ErrTaken) || held != nil {
		return fmt.Errorf("acquire of a held lock answered %v, %v; want no lease and ErrTaken", held, err)
	}
	return nil
}

func expiry(ctx context.Context, spec locks.Spec, w World) error {
	if _, err := acquire(ctx, spec, w, "A", lease); err != nil {
		return err
	}
	if err := expire(w); err != nil {
		return err
	}
	if _, err := acquire(ctx, spec, w, "B", long); err != nil {
		return fmt.Errorf("after the lease ended: %w", err)
	}
	return nil
}

func foreignRelease(ctx context.Context, spec locks.Spec, w World) error {
	late, err := acquire(ctx, spec, w, "A", lease)
	if err != nil {
		return err
	}
	if err := expire(w); err != nil {
		return err
	}
	held, err := acquire(ctx, spec, w, "B", long)
	if err != nil {
		return err
	}
	before, err := w.Inspect(key)
	if err != nil {
		return err
	}
	if err := settle(w, func() error { return late.Release(ctx) }); !errors.Is(err, locks.ErrNotHeld) {
		return fmt.Errorf("release of a lease that ended answered %v, want ErrNotHeld", err)
	}
	after, err := w.Inspect(key)
	if err != nil {
		return err
	}
	for i := range before {
		if before[i].Value != after[i].Value {
			return fmt.Errorf("a refused release changed node %d from %q to %q", i+1, before[i].Value, after[i].Value)
		}
	}
	if err := held.Release(ctx); err != nil {
		return fmt.Errorf("release by the holder, after a foreign one: %w", err)
	}
	return nil
}

func secondRelease(ctx context.Context, spec locks.Spec, w World) error {
	held, err := acquire(ctx, spec, w, "A", long)
	if err != nil {
		return err
	}
	if err := held.Release(ctx); err != nil {
		return fmt.Errorf("first release: %w", err)
	}
	if err := held.Release(ctx); !errors.Is(err, locks.ErrNotHeld) {
		return fmt.Errorf("second release answered %v, want ErrNotHeld", err)
	}
	return nil
}

func cancelledContext(ctx context.Context, spec locks.Spec, w World) error {
	lock := spec.New(w.Client("A"))
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	held, err := lock.Acquire(cancelled, key, lease)
	if err == nil || held != nil || locks.Classify(err) != locks.Indefinite {
		return fmt.Errorf("acquire with a cancelled context answered %v, %v; want no lease and an indefinite error", held, err)
	}
	w.Sleep(lease)
	if _, err := acquire(ctx, spec, w, "B", long); err != nil {
		return fmt.Errorf("one TTL after a cancelled acquire: %w", err)
	}
	return nil
}

func deadline(ctx context.Context, spec locks.Spec, w World) error {
	env := w.Client("A")
	before := env.Clock.Now()
	held, err := spec.New(env).Acquire(ctx, key, long)
	if err != nil {
		return err
	}
	if held.Deadline().Before(before) {
		return fmt.Errorf("deadline is %v before the acquire", before.Sub(held.Deadline()))
	}
	nodes, err := w.Inspect(key)
	after := env.Clock.Now()
	if err != nil {
		return err
	}
	for i, k := range nodes {
		if !k.Exists || k.TTL < 0 {
			return fmt.Errorf("node %d holds no key with a TTL right after the acquire: %+v", i+1, k)
		}
		// The server looked at its clock before after. It counts in milliseconds.
		if expires := after.Add(k.TTL + time.Millisecond); held.Deadline().After(expires) {
			return fmt.Errorf("deadline is %v after node %d lets the key expire", held.Deadline().Sub(expires), i+1)
		}
	}
	return nil
}

func verify(ctx context.Context, spec locks.Spec, w World) error {
	held, err := acquire(ctx, spec, w, "A", lease)
	if err != nil {
		return err
	}
	lost, ok := held.(locks.Verifier)
	if !ok {
		return fmt.Errorf("a %T is no Verifier, but the lock says that it has a token", held)
	}
	if err := settle(w, func() error { return lost.Verify(ctx) }); err != nil {
		return fmt.Errorf("verify by the holder: %w", err)
	}
	if err := expire(w); err != nil {
		return err
	}
	if err := settle(w, func() error { return lost.Verify(ctx) }); !errors.Is(err, locks.ErrNotHeld) {
		return fmt.Errorf("verify after the lease ended answered %v, want ErrNotHeld", err)
	}
	if _, err := acquire(ctx, spec, w, "B", long); err != nil {
		return err
	}
	if err := settle(w, func() error { return lost.Verify(ctx) }); !errors.Is(err, locks.ErrNotHeld) {
		return fmt.Errorf("verify while another holds the lock answered %v, want ErrNotHeld", err)
	}
	return nil
}

func tokensIncrease(ctx context.Context, spec locks.Spec, w World) error {
	var last int64
	for i, name := range []string{"A", "B", "A", "C", "B"} {
		held, err := acquire(ctx, spec, w, name, lease)
		if err != nil {
			return err
		}
		if held.Token() <= last {
			return fmt.Errorf("acquire %d got token %d after %d", i+1, held.Token(), last)
		}
		last = held.Token()
		if err := mustBeTaken(ctx, spec, w); err != nil {
			return err
		}
		// Both ways for a lease to end.
		end := func() error { return settle(w, func() error { return held.Release(ctx) }) }
		if i%2 == 1 {
			end = func() error { return expire(w) }
		}
		if err := end(); err != nil {
			return err
		}
	}
	return nil
}

func noToken(ctx context.Context, spec locks.Spec, w World) error {
	held, err := acquire(ctx, spec, w, "A", long)
	if err != nil {
		return err
	}
	if held.Token() != 0 {
		return fmt.Errorf("token is %d, want 0: the lock says that it issues none", held.Token())
	}
	return nil
}

func badInput(ctx context.Context, spec locks.Spec, w World) error {
	lock := spec.New(w.Client("A"))
	for _, bad := range []struct {
		field string
		key   string
		ttl   time.Duration
	}{
		{"key", "", long},
		{"ttl", key, 0},
		{"ttl", key, -time.Second},
		{"ttl", key, 999 * time.Microsecond},
		{"ttl", key, time.Second + time.Microsecond},
	} {
		held, err := lock.Acquire(ctx, bad.key, bad.ttl)
		var input *locks.InputError
		if !errors.As(err, &input) || input.Field != bad.field || held != nil {
			return fmt.Errorf("acquire(%q, %v) answered %v, %v; want no lease and an InputError about %s",
				bad.key, bad.ttl, held, err, bad.field)
		}
		nodes, err := w.Inspect(bad.key)
		if err != nil {
			return err
		}
		for i, k := range nodes {
			if k.Exists {
				return fmt.Errorf("refused input left %q on node %d", k.Value, i+1)
			}
		}
	}
	return nil
}

// acquire gets the free lock for a new client.
func acquire(ctx context.Context, spec locks.Spec, w World, client string, ttl time.Duration) (held locks.Lease, err error) {
	lock := spec.New(w.Client(client))
	err = settle(w, func() error {
		held, err = lock.Acquire(ctx, key, ttl)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("acquire of a free lock: %w", err)
	}
	return held, nil
}

// settle makes a call until its answer is definite.
func settle(w World, call func() error) error {
	err := call()
	for try := 1; try < w.Tries() && err != nil && locks.Classify(err) == locks.Indefinite; try++ {
		w.Sleep(20 * time.Millisecond)
		err = call()
	}
	return err
}

// compete acquires the lock against others. The pause between attempts grows, and
// differs between clients, so that split votes do not repeat.
func compete(ctx context.Context, env locks.Env, lock locks.Locker, pause time.Duration) (locks.Lease, error) {
	const tries = 2000
	var err error
	for try := range tries {
		var held locks.Lease
		if held, err = lock.Acquire(ctx, key, long); err == nil {
			return held, nil
		}
		if err := env.Clock.Sleep(ctx, pause*time.Duration(1+try%5)); err != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("%d attempts to acquire failed, the last with: %w", tries, err)
}

// expire waits until a lease on key has ended on every master.
func expire(w World) error {
	w.Sleep(lease)
	for range 200 {
		nodes, err := w.Inspect(key)
		if err != nil {
			return err
		}
		held := false
		for _, k := range nodes {
			held = held || k.Exists
		}
		if !held {
			return nil
		}
		w.Sleep(5 * time.Millisecond)
	}
	return fmt.Errorf("key %s is still there a second after its lease of %v ended", key, lease)
}
