package locks

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"
)

// plain is a lock on one Redis instance whose key does not tell its holder: it is
// released by DEL, whoever sends that.
type plain struct {
	env     Env
	acquire func(ctx context.Context, env Env, key string, ttl time.Duration) error
	// forever says that the source knows no TTL: Acquire ignores the one it is given.
	forever bool
}

// one is the value that D and B write where nobody will look at it.
const one = "1"

func (p *plain) Acquire(ctx context.Context, key string, ttl time.Duration) (Lease, error) {
	if err := CheckInput(key, ttl); err != nil {
		return nil, err
	}
	var deadline time.Time
	if !p.forever {
		deadline = p.env.Clock.Now().Add(ttl) // before a byte is sent, see single.Acquire
	}
	if err := p.acquire(ctx, p.env, key, ttl); err != nil {
		return nil, err
	}
	return &plainLease{node: p.env.Nodes[0], key: key, deadline: deadline}, nil
}

// plainLease is a lease on a key without a token: it is no Verifier.
type plainLease struct {
	node     *redis.Client
	key      string
	deadline time.Time
}

func (l *plainLease) Release(ctx context.Context) error { return del(ctx, l.node, l.key) }
func (l *plainLease) Token() int64                      { return 0 }
func (l *plainLease) Deadline() time.Time               { return l.deadline }

// orTaken returns acquire with every error called a refusal, as B's tryLock does: it logs an exception, and says false.
func orTaken(acquire func(context.Context, Env, string, time.Duration) error) func(context.Context, Env, string, time.Duration) error {
	return func(ctx context.Context, env Env, key string, ttl time.Duration) error {
		if err := ctx.Err(); err != nil {
			return err // it has not begun
		}
		if acquire(ctx, env, key, ttl) != nil {
			return ErrTaken
		}
		return nil
	}
}

// sender is a client, or one connection of it.
type sender interface {
	Do(ctx context.Context, args ...any) *redis.Cmd
	Expire(ctx context.Context, key string, ttl time.Duration) *redis.BoolCmd
	PExpire(ctx context.Context, key string, ttl time.Duration) *redis.BoolCmd
}

// setNX sends SETNX key value: nil, ErrTaken, or an indefinite error.
func setNX(ctx context.Context, node sender, key string, value any) error {
	// Client.SetNX would send SET key value NX.
	set, err := node.Do(ctx, "SETNX", key, value).Int64()
	if err == nil && set == 0 {
		return ErrTaken
	}
	return err
}

// expire sends EXPIRE key seconds, as the sources do, which count in whole seconds. For
// any other TTL it is PEXPIRE key milliseconds. The sources do not look at the answer:
// 0 would mean that the key is gone already.
func expire(ctx context.Context, node sender, key string, ttl time.Duration) error {
	if ttl%time.Second == 0 {
		return node.Expire(ctx, key, ttl).Err()
	}
	return node.PExpire(ctx, key, ttl).Err()
}
