package locks

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

// doer is a client, or one connection of it.
type doer interface {
	Do(ctx context.Context, args ...any) *redis.Cmd
}

// setNXPX sends SET key token NX PX milliseconds, the acquire of every lock named
// setnx-px and of Redlock's nodes. Source: A 1.3, A 3.2; Redis documentation,
// Distributed Locks. It returns nil, ErrTaken, or an indefinite error.
func setNXPX(ctx context.Context, node doer, key, token string, ttl time.Duration) error {
	// Client.SetNX would send EX seconds for a whole number of seconds.
	switch reply, err := node.Do(ctx, "SET", key, token, "NX", "PX", ttl.Milliseconds()).Text(); {
	case errors.Is(err, redis.Nil):
		return ErrTaken
	case err != nil:
		return err
	case reply != "OK":
		return fmt.Errorf("SET answered %q, want OK or nil", reply)
	default:
		return nil
	}
}

// newSetNXPX is a lock on one instance that is acquired by setNXPX.
func newSetNXPX(env Env, release func(ctx context.Context, node *redis.Client, key, token string) error) *single {
	return &single{
		env: env,
		acquire: func(ctx context.Context, node *redis.Client, key, token string, ttl time.Duration) (int64, error) {
			return 0, setNXPX(ctx, node, key, token, ttl)
		},
		release: release,
	}
}
