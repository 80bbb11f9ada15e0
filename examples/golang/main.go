// Your lock, as lockbench calls it. Put your own code into myLock; what is there is sound.
//
//	lockbench gate --backend process --worker ./my_lock
package main

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	compareAndDelete = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0"
	compareAndExpire = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end return 0"
)

type myLock struct{ client *redis.Client }

// Acquire tries once, and returns a lease, or ErrTaken with what a careless caller could release.
func (l myLock) Acquire(ctx context.Context, key string, ttl time.Duration) (any, error) {
	token := rand.Text()
	err := l.client.SetArgs(ctx, "lock:"+key, token, redis.SetArgs{Mode: "NX", TTL: ttl}).Err()
	if errors.Is(err, redis.Nil) {
		return token, ErrTaken
	}
	return token, err
}

// Release returns ErrNotHeld if the lease was no longer ours.
func (l myLock) Release(ctx context.Context, key string, lease any) error {
	return l.compare(ctx, compareAndDelete, key, lease)
}

// Extend makes the lease last for ttl from now, or returns ErrNotHeld. Remove it if your lock
// cannot.
func (l myLock) Extend(ctx context.Context, key string, lease any, ttl time.Duration) error {
	if ttl <= 0 { // Redis would delete the key
		return ErrInvalid
	}
	return l.compare(ctx, compareAndExpire, key, lease, ttl.Milliseconds())
}

func (l myLock) compare(ctx context.Context, script, key string, args ...any) error {
	done, err := l.client.Eval(ctx, script, []string{"lock:" + key}, args...).Int()
	if err == nil && done == 0 {
		return ErrNotHeld
	}
	return err
}

func main() {
	about := About{
		Keys:            []string{"lock:%s"}, // under which names the lock on %s is kept
		Threads:         true,                // goroutines may share a lock
		ReleasesRefused: true,                // lockbench may release what Acquire returns with ErrTaken
		// Promises are what your lock keeps beyond that, such as {"tolerance": 500}; see
		// lockbench's docs/worker-protocol.md.
		Promises: map[string]any{},
	}
	serve(about, func(addresses []string) Lock { return myLock{newClient(addresses[0], 0)} })
}
