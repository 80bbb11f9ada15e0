package locks

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

// single is a lock on one Redis instance: two functions make it a family.
type single struct {
	env Env
	// acquire sets key to token for ttl. It returns the fencing token, if there is one.
	acquire func(ctx context.Context, node *redis.Client, key, token string, ttl time.Duration) (int64, error)
	release func(ctx context.Context, node *redis.Client, key, token string) error
}

func (s *single) Acquire(ctx context.Context, key string, ttl time.Duration) (Lease, error) {
	if err := checkInput(key, ttl); err != nil {
		return nil, err
	}
	token, err := newToken(s.env.Rand)
	if err != nil {
		return nil, err
	}
	// Read before a byte is sent: the server counts from later on, so that its
	// lease does not end before the one the holder is told.
	deadline := s.env.Clock.Now().Add(ttl)
	fence, err := s.acquire(ctx, s.env.Nodes[0], key, token, ttl)
	if err != nil {
		return nil, err
	}
	return &singleLease{lock: s, key: key, token: token, fence: fence, deadline: deadline}, nil
}

// singleLease is a lease on one Redis instance.
type singleLease struct {
	lock       *single
	key, token string
	fence      int64
	deadline   time.Time
}

func (l *singleLease) Release(ctx context.Context) error {
	return l.lock.release(ctx, l.lock.env.Nodes[0], l.key, l.token)
}

func (l *singleLease) Verify(ctx context.Context) error {
	return verify(ctx, l.lock.env.Nodes[0], l.key, l.token)
}

func (l *singleLease) Token() int64        { return l.fence }
func (l *singleLease) Deadline() time.Time { return l.deadline }

// verify sends GET and compares: nil, ErrNotHeld, or an indefinite error.
func verify(ctx context.Context, node *redis.Client, key, token string) error {
	switch value, err := node.Get(ctx, key).Result(); {
	case errors.Is(err, redis.Nil):
		return ErrNotHeld
	case err != nil:
		return err
	case value != token:
		return ErrNotHeld
	default:
		return nil
	}
}

// del sends DEL: nil if the key was there, else ErrNotHeld.
func del(ctx context.Context, node *redis.Client, key string) error {
	return deleted(node.Del(ctx, key).Result())
}

// deleted reads the number of keys that a release removed.
func deleted(keys int64, err error) error {
	switch {
	case err != nil:
		return err
	case keys == 0:
		return ErrNotHeld
	case keys == 1:
		return nil
	default:
		return fmt.Errorf("release removed %d keys, want 0 or 1", keys)
	}
}
