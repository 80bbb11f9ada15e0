package locktest_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench/locks"
	"github.com/lockbench/lockbench/locktest"
)

// A lock of a library is put under test by a func that acquires it, and one that releases it.
func ExampleRun() {
	myLock := locktest.Lock{New: func(w locktest.World) (locks.Locker, error) {
		client := redis.NewClient(w.Options())
		return w.Locker(func(ctx context.Context, key string, ttl time.Duration) (locktest.Lease, error) {
			token := w.Name() + time.Now().String()
			err := take(ctx, client, key, token, ttl) // locks.ErrTaken if somebody else holds it
			return locktest.Lease{Release: func(ctx context.Context) error {
				return deleteOwn(ctx, client, key, token) // locks.ErrNotHeld if it is not held any more
			}}, err
		}), nil
	}}
	_ = func(t *testing.T) { locktest.Run(t, myLock) } // TestMyLock
}

// A lock of the catalogue is made from the surroundings as package locks takes them.
func ExampleWorld_Env() {
	spec, err := locks.All().Find("setnx-px-lua")
	if err != nil {
		fmt.Println(err)
		return
	}
	lock := locktest.Lock{Name: spec.Name, New: func(w locktest.World) (locks.Locker, error) { return spec.New(w.Env()), nil }}
	_ = func(t *testing.T) { locktest.Run(t, lock) }
	fmt.Println(lock.Name)
	// Output: setnx-px-lua
}

// What is known of a lock, and documented, is accepted with its reason.
func ExampleAccept() {
	_ = func(t *testing.T, myLock locktest.Lock) {
		locktest.Run(t, myLock, locktest.Accept("P14", "documented: a lock that must survive a failover needs WAIT or Redlock"))
	}
}
