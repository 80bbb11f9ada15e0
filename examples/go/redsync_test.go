package locks_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/go-redsync/redsync/v4"
	redsyncredis "github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"

	"github.com/lockbench/lockbench/locks"
	"github.com/lockbench/lockbench/locktest"
)

func TestRedsync(t *testing.T) {
	locktest.Run(t, locktest.Lock{Masters: 5, New: func(w locktest.World) (locks.Locker, error) {
		var pools []redsyncredis.Pool
		for _, c := range w.Clients() {
			pools = append(pools, goredis.NewPool(c))
		}
		rs := redsync.New(pools...)
		return w.Locker(func(ctx context.Context, key string, ttl time.Duration) (locktest.Lease, error) {
			m := rs.NewMutex(key, redsync.WithExpiry(ttl), redsync.WithTries(1))
			err := m.LockContext(ctx)
			if _, ok := errors.AsType[*redsync.ErrTaken](err); ok {
				err = locks.ErrTaken
			}
			return locktest.Lease{Until: m.Until, Release: func(ctx context.Context) error {
				ok, err := m.UnlockContext(ctx)
				if _, taken := errors.AsType[*redsync.ErrTaken](err); taken {
					return locks.ErrNotHeld
				}
				return refused(ok, err, locks.ErrNotHeld)
			}}, err
		}), nil
	}})
}
