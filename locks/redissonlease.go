package locks

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

func redissonLeaseSpec() Spec {
	return Spec{
		Name:       "redisson-lease",
		Title:      "Redisson's lock for a given time: script of HINCRBY and PEXPIRE; script with PUBLISH; not renewed",
		Source:     "D (Redisson)",
		Sound:      true,
		Assumption: "the master keeps its keys and its clock, the holder stops before its deadline, no re-entry asks for less than is left (P32), and no command is sent twice (P33, P82)",
		Masters:    1,
		Variant:    "redisson-style",
		Reenters:   true,
		Notifies:   true,
		Waits:      true,
		New:        newRedissonLease,
	}
}

// newRedissonLease returns the lock redisson-lease: Redisson's RLock by tryLock with a lease
// time. The holder is Env.Client:Env.Thread.
//
//	acquire    a script: if key is absent or has the holder's field: HINCRBY 1, PEXPIRE; else PTTL
//	release    a script: nil without the holder's field; HINCRBY -1; if some are left PEXPIRE,
//	           else DEL, PUBLISH
//	subscribe  as redisson-style
//
// Source: D Redisson 的分布式锁实现: "a lock for another time is held for as long as that"; the
// scripts of org.redisson.RedissonLock 3.12, which D has as pictures.
//
// A re-entry sets the TTL that it asks for, even if less than what is left (P32). The lock is an
// io.Closer: Close ends subscriptions.
//
// Sound under the assumptions of reentrant-hash.
func newRedissonLease(env Env) Locker {
	b := newBackground(env, 0)
	return &redissonLeases{
		background: b,
		subscriber: newSubscriber(b, env.Nodes[0]),
		env:        env,
		holder:     holderID(env),
	}
}

type redissonLeases struct {
	*background
	subscriber *subscriber
	env        Env
	holder     string
}

func (r *redissonLeases) Acquire(ctx context.Context, key string, ttl time.Duration) (Lease, error) {
	if err := CheckInput(key, ttl); err != nil {
		return nil, err
	}
	deadline := r.env.Clock.Now().Add(ttl) // before a byte is sent, see single.Acquire
	if err := redissonLock(ctx, r.env.Nodes[0], key, r.holder, ttl); err != nil {
		return nil, err
	}
	return &redissonFixedLease{lock: r, key: key, ttl: ttl, deadline: deadline}, nil
}

// redissonLock runs Redisson's script for acquire: nil, a *TakenError, or an indefinite error.
func redissonLock(ctx context.Context, node *redis.Client, key, holder string, ttl time.Duration) error {
	remaining, err := redissonLockScript.run(ctx, node, []string{key}, holder, ttl.Milliseconds())
	switch {
	case errors.Is(err, redis.Nil):
		return nil
	case err != nil:
		return err
	}
	return &TakenError{Remaining: time.Duration(remaining) * time.Millisecond}
}

// redissonUnlock runs Redisson's script for release: nil, ErrNotHeld, or an indefinite error.
func redissonUnlock(ctx context.Context, node *redis.Client, key, holder string, ttl time.Duration) error {
	keys := []string{key, redissonChannel(key)}
	_, err := redissonUnlockScript.run(ctx, node, keys, holder, ttl.Milliseconds())
	if errors.Is(err, redis.Nil) {
		return ErrNotHeld
	}
	return err
}

// Await sleeps until the holder's release is told, or its lease ends.
func (r *redissonLeases) Await(ctx context.Context, key string, ttl time.Duration) (Lease, error) {
	return AcquireWait(ctx, r, key, ttl, PubSub{Clock: r.env.Clock})
}

func (r *redissonLeases) Count(ctx context.Context, key string) (int64, error) {
	return hashCount(ctx, r.env.Nodes[0], key, r.holder)
}

// Subscribe waits until the server has confirmed it, so that no later release is missed.
func (r *redissonLeases) Subscribe(ctx context.Context, key string) (<-chan struct{}, func(), error) {
	return r.subscriber.subscribe(ctx, redissonChannel(key))
}

// redissonFixedLease is one acquire or re-entry. It is safe for concurrent use.
type redissonFixedLease struct {
	lock     *redissonLeases
	key      string
	ttl      time.Duration
	deadline time.Time

	mu   sync.Mutex
	over bool // given back or lost for certain
}

// Release gives one acquire back. A lease that was given back is not sent again: that
// would give back the outer one.
func (l *redissonFixedLease) Release(ctx context.Context) error {
	if l.isOver() {
		return ErrNotHeld
	}
	err := redissonUnlock(ctx, l.lock.env.Nodes[0], l.key, l.lock.holder, l.ttl)
	if err == nil || errors.Is(err, ErrNotHeld) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.over = true
	}
	return err
}

func (l *redissonFixedLease) isOver() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.over
}

func (l *redissonFixedLease) Token() int64        { return 0 }
func (l *redissonFixedLease) Deadline() time.Time { return l.deadline }
