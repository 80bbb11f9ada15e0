// Package locks_test puts locks under test by go test alone: one of a few lines, three that are broken, and two libraries.
package locks_test

import (
	"context"
	"crypto/rand"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench/locks"
	"github.com/lockbench/lockbench/locktest"
)

// mine is the user's lock: SET NX PX, and a script that deletes the key if it holds the own token.
type mine struct {
	client     *redis.Client
	key, token string
}

var ifOwn = redis.NewScript(`if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("del", KEYS[1]) end return 0`)

func obtain(ctx context.Context, client *redis.Client, key string, ttl time.Duration) (*mine, bool, error) {
	m := &mine{client, key, rand.Text()}
	ok, err := client.SetNX(ctx, key, m.token, ttl).Result()
	return m, ok, err
}

// release reports whether the lock was still held.
func (m *mine) release(ctx context.Context) (bool, error) {
	n, err := ifOwn.Run(ctx, m.client, []string{m.key}, m.token).Int()
	return n == 1, err
}

// myLock puts it under test.
var myLock = locktest.Lock{New: func(w locktest.World) (locks.Locker, error) {
	client := redis.NewClient(w.Options())
	return w.Locker(func(ctx context.Context, key string, ttl time.Duration) (locktest.Lease, error) {
		m, ok, err := obtain(ctx, client, key, ttl)
		return locktest.Lease{Release: func(ctx context.Context) error {
			ok, err := m.release(ctx)
			return refused(ok, err, locks.ErrNotHeld)
		}}, refused(ok, err, locks.ErrTaken)
	}), nil
}}

// refused is err, or why if there is none and the answer is no.
func refused(ok bool, err, why error) error {
	if err == nil && !ok {
		return why
	}
	return err
}

func TestMyLock(t *testing.T)         { locktest.Run(t, myLock) }
func TestMyLockExplored(t *testing.T) { locktest.Explore(t, myLock, locktest.For(5*time.Second)) }
func TestMyLockReplayed(t *testing.T) { locktest.Replay(t, myLock) }
func FuzzMyLock(f *testing.F)         { locktest.Fuzz(f, myLock) }
