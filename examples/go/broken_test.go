package locks_test

import (
	"context"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench/locks"
	"github.com/lockbench/lockbench/locktest"
)

// on is a lock over one client.
func on(lock func(ctx context.Context, c *redis.Client, key string, ttl time.Duration) (locktest.Lease, error)) locktest.Lock {
	return locktest.Lock{New: func(w locktest.World) (locks.Locker, error) {
		c := redis.NewClient(w.Options())
		return w.Locker(func(ctx context.Context, key string, ttl time.Duration) (locktest.Lease, error) {
			return lock(ctx, c, key, ttl)
		}), nil
	}}
}

// TestBrokenDelete: whoever releases deletes the key, whose ever it is by then.
func TestBrokenDelete(t *testing.T) {
	onPurpose(t)
	locktest.Run(t, on(func(ctx context.Context, c *redis.Client, key string, ttl time.Duration) (locktest.Lease, error) {
		ok, err := c.SetNX(ctx, key, "locked", ttl).Result()
		return locktest.Lease{Release: func(ctx context.Context) error {
			n, err := c.Del(ctx, key).Result()
			return refused(n == 1, err, locks.ErrNotHeld)
		}}, refused(ok, err, locks.ErrTaken)
	}))
}

// TestBrokenExpiry: a holder that dies keeps the lock for ever.
func TestBrokenExpiry(t *testing.T) {
	onPurpose(t)
	locktest.Run(t, on(func(ctx context.Context, c *redis.Client, key string, _ time.Duration) (locktest.Lease, error) {
		m, ok, err := obtain(ctx, c, key, 0)
		return locktest.Lease{Release: func(ctx context.Context) error {
			ok, err := m.release(ctx)
			return refused(ok, err, locks.ErrNotHeld)
		}}, refused(ok, err, locks.ErrTaken)
	}))
}

// TestBrokenSet: two clients look, find no key, and both set it.
func TestBrokenSet(t *testing.T) {
	onPurpose(t)
	locktest.Run(t, on(func(ctx context.Context, c *redis.Client, key string, ttl time.Duration) (locktest.Lease, error) {
		n, err := c.Exists(ctx, key).Result()
		if err = refused(n == 0, err, locks.ErrTaken); err != nil {
			return locktest.Lease{}, err
		}
		m := &mine{c, key, time.Now().String()}
		return locktest.Lease{Release: func(ctx context.Context) error {
			ok, err := m.release(ctx)
			return refused(ok, err, locks.ErrNotHeld)
		}}, c.Set(ctx, key, m.token, ttl).Err()
	}))
}

const brokenEnv = "BROKEN"

// onPurpose leaves a test out that must fail, unless it is asked for.
func onPurpose(t *testing.T) {
	if os.Getenv(brokenEnv) == "" {
		t.Skip("optional: it is broken on purpose; BROKEN=1 go test -run Broken shows how")
	}
}

// TestTheyFail: each of them fails.
func TestTheyFail(t *testing.T) {
	if os.Getenv(brokenEnv) != "" {
		return // this is one of the tests below
	}
	for _, name := range []string{"TestBrokenDelete", "TestBrokenExpiry", "TestBrokenSet"} {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^"+name+"$")
		cmd.Env = append(os.Environ(), brokenEnv+"=1")
		if out, err := cmd.CombinedOutput(); err == nil {
			t.Errorf("%s passed, and is broken:\n%s", name, out)
		}
	}
}
