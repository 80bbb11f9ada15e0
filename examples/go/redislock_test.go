package locks_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/bsm/redislock"
	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench/locks"
	"github.com/lockbench/lockbench/locktest"
)

func TestRedislock(t *testing.T) {
	locktest.Run(t, locktest.Lock{New: func(w locktest.World) (locks.Locker, error) {
		client := redislock.New(redis.NewClient(w.Options()))
		return w.Locker(func(ctx context.Context, key string, ttl time.Duration) (locktest.Lease, error) {
			l, err := client.Obtain(ctx, key, ttl, nil)
			if errors.Is(err, redislock.ErrNotObtained) {
				err = locks.ErrTaken
			}
			return locktest.Lease{Release: func(ctx context.Context) error {
				err := l.Release(ctx)
				if errors.Is(err, redislock.ErrLockNotHeld) {
					err = locks.ErrNotHeld
				}
				return err
			}}, err
		}), nil
	}})
}
