package locktest_test

import (
	"context"
	"crypto/rand"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench/locks"
	"github.com/lockbench/lockbench/locktest"
)

// children are the tests that a process of their own plays.
func children() map[string]func(*testing.T) {
	run := func(l locktest.Lock, opts ...locktest.Option) func(*testing.T) {
		return func(t *testing.T) { locktest.Run(t, l, opts...) }
	}
	return map[string]func(*testing.T){
		"TestSound":                  run(of(sound)),
		"TestSoundByInterfaces":      run(locktest.Lock{New: func(w locktest.World) (locks.Locker, error) { return &plainLock{redis.NewClient(w.Options())}, nil }}),
		"TestBareDel":                run(of(bareDel)),
		"TestNoExpiry":               run(of(noExpiry)),
		"TestNoNX":                   run(of(noNX)),
		"TestExtendUnchecked":        run(of(extendUnchecked)),
		"TestRenewalOutlivesRelease": run(of(renewalOutlives)),
		"TestTokenReused":            run(of(tokenReused)),
		"TestAccepted": run(of(bareDel), locktest.Accept("P08", "it is broken on purpose"), locktest.Accept("failover-async-repl", "needs WAIT"),
			locktest.Accept("contract/foreign_release_is_refused", "it is broken on purpose")),
		"TestAcceptedInVain":  run(of(sound), locktest.Accept("P08", "it is not"), locktest.Accept("contract/expiry", "it is not")),
		"TestAcceptedUnknown": run(of(sound), locktest.Accept("P00", "there is none")),
		"TestInsideOfBubble": func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { locktest.Run(t, of(sound)) })
		},
		"TestIgnoresContext":    run(of(ignoresContext)),
		"TestMutexAcrossCall":   run(of(mutexAcrossCall)),
		"TestGoroutineOutlives": run(of(goroutineOutlives)),
		"TestExplored":          func(t *testing.T) { locktest.Explore(t, of(bareDel), locktest.Depth(0)) },
		"TestReplayed":          func(t *testing.T) { locktest.Replay(t, of(bareDel)) },
		"TestReplayedSound":     func(t *testing.T) { locktest.Replay(t, of(sound)) },
		"TestNoLock":            run(locktest.Lock{New: func(locktest.World) (locks.Locker, error) { return nil, nil }}),
		"TestPanics":            run(of(panics)),
		"TestWaits":             run(of(waits)),
		"TestRetries":           run(of(retries)),
		"TestOwnSocket": run(locktest.Lock{New: func(w locktest.World) (locks.Locker, error) { // nobody listens there
			return &plainLock{redis.NewClient(&redis.Options{Addr: "127.0.0.1:1", MaxRetries: -1, DialerRetries: 1})}, nil
		}}),
	}
}

// on is a lock over one client.
type on func(client *redis.Client) func(ctx context.Context, key string, ttl time.Duration) (locktest.Lease, error)

func of(lock on) locktest.Lock {
	return locktest.Lock{New: func(w locktest.World) (locks.Locker, error) {
		return w.Locker(lock(redis.NewClient(w.Options()))), nil
	}}
}

// A script is its source, and never changes.
var (
	ifOwnDelete = redis.NewScript(`if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("del", KEYS[1]) end return 0`)
	ifOwnExpire = redis.NewScript(`if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("pexpire", KEYS[1], ARGV[2]) end return 0`)
)

// done is nil, or that the lease is not held if a command did nothing.
func done(n int64, err error) error {
	if err == nil && n == 0 {
		return locks.ErrNotHeld
	}
	return err
}

// take sends SET key token NX PX ttl.
func take(ctx context.Context, c *redis.Client, key, token string, ttl time.Duration) error {
	ok, err := c.SetNX(ctx, key, token, ttl).Result()
	if err == nil && !ok {
		return locks.ErrTaken
	}
	return err
}

func deleteOwn(ctx context.Context, c *redis.Client, key, token string) error {
	return done(ifOwnDelete.Run(ctx, c, []string{key}, token).Int64())
}

func sound(c *redis.Client) func(context.Context, string, time.Duration) (locktest.Lease, error) {
	return func(ctx context.Context, key string, ttl time.Duration) (locktest.Lease, error) {
		token := rand.Text()
		return locktest.Lease{
			Release: func(ctx context.Context) error { return deleteOwn(ctx, c, key, token) },
			Extend: func(ctx context.Context, ttl time.Duration) error {
				if ttl < time.Millisecond {
					return &locks.InputError{Field: "ttl", Value: ttl.String(), Want: "a millisecond or more"}
				}
				return done(ifOwnExpire.Run(ctx, c, []string{key}, token, ttl.Milliseconds()).Int64())
			},
		}, take(ctx, c, key, token, ttl)
	}
}

func bareDel(c *redis.Client) func(context.Context, string, time.Duration) (locktest.Lease, error) {
	return func(ctx context.Context, key string, ttl time.Duration) (locktest.Lease, error) {
		return locktest.Lease{
			Release: func(ctx context.Context) error { return done(c.Del(ctx, key).Result()) },
		}, take(ctx, c, key, rand.Text(), ttl)
	}
}

func noExpiry(c *redis.Client) func(context.Context, string, time.Duration) (locktest.Lease, error) {
	return func(ctx context.Context, key string, _ time.Duration) (locktest.Lease, error) {
		token := rand.Text()
		return locktest.Lease{
			Release: func(ctx context.Context) error { return deleteOwn(ctx, c, key, token) },
		}, take(ctx, c, key, token, 0)
	}
}

func noNX(c *redis.Client) func(context.Context, string, time.Duration) (locktest.Lease, error) {
	return func(ctx context.Context, key string, ttl time.Duration) (locktest.Lease, error) {
		token := rand.Text()
		held, err := c.Exists(ctx, key).Result()
		if err == nil && held > 0 {
			err = locks.ErrTaken
		}
		if err == nil {
			err = c.Set(ctx, key, token, ttl).Err()
		}
		return locktest.Lease{Release: func(ctx context.Context) error { return deleteOwn(ctx, c, key, token) }}, err
	}
}

func extendUnchecked(c *redis.Client) func(context.Context, string, time.Duration) (locktest.Lease, error) {
	return func(ctx context.Context, key string, ttl time.Duration) (locktest.Lease, error) {
		lease, err := sound(c)(ctx, key, ttl)
		lease.Extend = func(ctx context.Context, ttl time.Duration) error { // whoever has the key by now
			ok, err := c.PExpire(ctx, key, ttl).Result()
			if err == nil && !ok {
				return locks.ErrNotHeld
			}
			return err
		}
		return lease, err
	}
}

// renewalOutlives renews its leases, and goes on when they have been released: it sets the key again.
func renewalOutlives(c *redis.Client) func(context.Context, string, time.Duration) (locktest.Lease, error) {
	return func(ctx context.Context, key string, ttl time.Duration) (locktest.Lease, error) {
		token, lost := rand.Text(), make(chan struct{})
		if err := take(ctx, c, key, token, ttl); err != nil {
			return locktest.Lease{}, err
		}
		ends := time.Now().Add(ttl)
		var mu sync.Mutex
		go func() {
			defer close(lost)
			for range 8 { // nobody tells it to stop
				time.Sleep(ttl / 3)
				asked := time.Now()
				ctx, cancel := context.WithTimeout(context.Background(), ttl/3)
				err := c.PExpire(ctx, key, ttl).Err()
				cancel()
				mu.Lock()
				if err == nil {
					ends = asked.Add(ttl)
				}
				over := time.Now().After(ends)
				mu.Unlock()
				if over {
					return
				}
			}
		}()
		return locktest.Lease{
			Release: func(ctx context.Context) error { return deleteOwn(ctx, c, key, token) },
			Lost:    lost,
			Until: func() time.Time {
				mu.Lock()
				defer mu.Unlock()
				return ends
			},
		}, nil
	}
}

// tokenReused has the same token for all attempts.
func tokenReused(c *redis.Client) func(context.Context, string, time.Duration) (locktest.Lease, error) {
	return func(ctx context.Context, key string, ttl time.Duration) (locktest.Lease, error) {
		const token = "held"
		return locktest.Lease{
			Release: func(ctx context.Context) error { return deleteOwn(ctx, c, key, token) },
		}, take(ctx, c, key, token, ttl)
	}
}

// ignoresContext waits for ever if a release was not answered.
func ignoresContext(c *redis.Client) func(context.Context, string, time.Duration) (locktest.Lease, error) {
	return func(ctx context.Context, key string, ttl time.Duration) (locktest.Lease, error) {
		lease, err := sound(c)(ctx, key, ttl)
		release := lease.Release
		lease.Release = func(ctx context.Context) error {
			err := release(ctx)
			if err != nil && locks.Classify(err) == locks.Indefinite {
				time.Sleep(time.Hour)
			}
			return err
		}
		return lease, err
	}
}

// mutexAcrossCall lets one call at a time through.
func mutexAcrossCall(c *redis.Client) func(context.Context, string, time.Duration) (locktest.Lease, error) {
	var mu sync.Mutex
	return func(ctx context.Context, key string, ttl time.Duration) (locktest.Lease, error) {
		mu.Lock()
		defer mu.Unlock()
		go func() { mu.Lock(); defer mu.Unlock() }() // somebody who waits for it, as another caller would
		return sound(c)(ctx, key, ttl)
	}
}

// goroutineOutlives leaves a goroutine behind with each lease.
func goroutineOutlives(c *redis.Client) func(context.Context, string, time.Duration) (locktest.Lease, error) {
	return func(ctx context.Context, key string, ttl time.Duration) (locktest.Lease, error) {
		go func() { <-make(chan struct{}) }()
		return sound(c)(ctx, key, ttl)
	}
}

func panics(c *redis.Client) func(context.Context, string, time.Duration) (locktest.Lease, error) {
	return func(ctx context.Context, key string, ttl time.Duration) (locktest.Lease, error) {
		lease, err := sound(c)(ctx, key, ttl)
		lease.Release = func(context.Context) error { panic("a release that panics") }
		return lease, err
	}
}

// waits is a sound lock that tries until its context ends.
func waits(c *redis.Client) func(context.Context, string, time.Duration) (locktest.Lease, error) {
	return func(ctx context.Context, key string, ttl time.Duration) (locktest.Lease, error) {
		for {
			lease, err := sound(c)(ctx, key, ttl)
			if !errors.Is(err, locks.ErrTaken) {
				return lease, err
			}
			select {
			case <-ctx.Done():
				return lease, ctx.Err()
			case <-time.After(50 * time.Millisecond):
			}
		}
	}
}

// retries is a sound lock that tries four times.
func retries(c *redis.Client) func(context.Context, string, time.Duration) (locktest.Lease, error) {
	return func(ctx context.Context, key string, ttl time.Duration) (lease locktest.Lease, err error) {
		for range 4 {
			if lease, err = sound(c)(ctx, key, ttl); !errors.Is(err, locks.ErrTaken) {
				return lease, err
			}
			select {
			case <-ctx.Done():
				return lease, ctx.Err()
			case <-time.After(50 * time.Millisecond):
			}
		}
		return lease, err
	}
}

// plainLock is a lock with the methods of package locks.
type plainLock struct{ client *redis.Client }

func (p *plainLock) Acquire(ctx context.Context, key string, ttl time.Duration) (locks.Lease, error) {
	l := &plainLease{client: p.client, key: key, token: rand.Text(), ends: time.Now().Add(ttl)}
	if err := take(ctx, p.client, key, l.token, ttl); err != nil {
		return nil, err
	}
	return l, nil
}

type plainLease struct {
	client     *redis.Client
	key, token string
	ends       time.Time
}

func (l *plainLease) Release(ctx context.Context) error {
	return deleteOwn(ctx, l.client, l.key, l.token)
}
func (l *plainLease) Token() int64        { return 0 }
func (l *plainLease) Deadline() time.Time { return l.ends }
