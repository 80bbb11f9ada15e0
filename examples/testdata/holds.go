package main

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"
)

// Holds says whether the lease is still ours, which the lock of the template leaves out.
func (l myLock) Holds(ctx context.Context, key string, lease any) error {
	switch token, err := l.client.Get(ctx, "lock:"+key).Result(); {
	case errors.Is(err, redis.Nil), err == nil && token != lease:
		return ErrNotHeld
	default:
		return err
	}
}

// AcquireDefault takes the lock for 30 s, and does not promise that.
func (l myLock) AcquireDefault(ctx context.Context, key string) (any, error) {
	return l.Acquire(ctx, key, 30*time.Second)
}
