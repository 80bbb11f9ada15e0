package locks

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

// ErrAlreadyLocked says that the lock is taken by this very client. It is an ErrTaken.
var ErrAlreadyLocked = fmt.Errorf("%w: this client holds it already", ErrTaken)

func luaUUIDRepairedSpec() Spec {
	return Spec{
		Name:         "lua-uuid-repaired",
		Title:        "lua-uuid that tells an error from a refusal, and has a token for each attempt",
		Source:       "B, repaired",
		Sound:        true,
		Assumption:   "the master keeps its keys and its clock, and the holder stops before its deadline",
		Masters:      1,
		WholeSeconds: true,
		Extends:      true,
		HasToken:     true,
		Waits:        true,
		Promises:     Promises{ReleasesRefused: true},
		New:          newLuaUUIDRepaired,
	}
}

// newLuaUUIDRepaired returns the lock lua-uuid-repaired, which tries once.
//
//	acquire  a script: SETNX key token; if that answered 1: EXPIRE key seconds
//	release  a script that deletes key if its value is the own token
//	extend   a script that sets key's TTL if its value is the own token
//
// The token is a random UUID, a dot, and the client's clock in milliseconds. A TTL that
// is no whole number of seconds is an *InputError.
//
// It keeps account of its leases. A second acquire of a key answers ErrAlreadyLocked, and
// sends nothing, until the first lease is given to Release or has reached its deadline. A
// release of a lease that is over answers ErrNotHeld, and sends nothing.
//
// It is lua-uuid, B 追, repaired. There one object is one key, and has one token for all its
// acquires; here every acquire has its own, so that a late command of one lease cannot hit
// the next. There every error is called a refusal, and what the release answered is dropped;
// here both are told. There the object remembers a lease that is over; here it does not.
//
// Sound under the assumptions of setnx-px-lua. Neither the lock nor its leases are safe
// for concurrent use, as B says of its own: make one lock per goroutine.
func newLuaUUIDRepaired(env Env) Locker { return newLuaUUIDRepairedPolling(env, polling{}) }

// newLuaUUIDRepairedPolling returns the lock lua-uuid-repaired, which tries again while the lock is taken.
//
// It sleeps on the client's clock. An acquire that ends while it sleeps, because its
// context does, is a refusal: ErrTaken with the context's error.
func newLuaUUIDRepairedPolling(env Env, p polling) Locker {
	return &luaUUIDRepaired{
		try: single{
			env: env,
			acquire: func(ctx context.Context, node *redis.Client, key, token string, ttl time.Duration) (int64, error) {
				return 0, setNXExpire(ctx, node, key, token, ttl)
			},
			release: compareAndDelete,
			token:   func(env Env) (string, error) { return uuidAndTime(env.Rand, env.Clock.Now()) },
			accept:  acceptWholeSeconds,
			extend:  extendOwn,
		},
		polling: p,
		held:    map[string]extendableLease{},
	}
}

type luaUUIDRepaired struct {
	try     single
	polling polling
	held    map[string]extendableLease // by key
}

func (l *luaUUIDRepaired) Acquire(ctx context.Context, key string, ttl time.Duration) (Lease, error) {
	for tries := 1; ; tries++ {
		lease, err := l.tryLock(ctx, key, ttl)
		if !errors.Is(err, ErrTaken) || errors.Is(err, ErrAlreadyLocked) {
			return lease, err
		}
		if tries >= l.polling.Tries {
			return nil, err
		}
		if err := l.try.env.Clock.Sleep(ctx, l.polling.Interval); err != nil {
			return nil, fmt.Errorf("%w, and the wait for it ended: %w", ErrTaken, err)
		}
	}
}

// Await tries every tenth of a second.
func (l *luaUUIDRepaired) Await(ctx context.Context, key string, ttl time.Duration) (Lease, error) {
	return AcquireWait(ctx, l, key, ttl, Interval{Every: pollEvery, Clock: l.try.env.Clock})
}

func (l *luaUUIDRepaired) tryLock(ctx context.Context, key string, ttl time.Duration) (Lease, error) {
	if earlier, ok := l.held[key]; ok && l.try.env.Clock.Now().Before(earlier.Deadline()) {
		return nil, ErrAlreadyLocked
	}
	lease, err := l.try.Acquire(ctx, key, ttl)
	if err != nil {
		return nil, err
	}
	held := lease.(extendableLease)
	l.held[key] = held
	return &luaUUIDRepairedLease{extendableLease: held, lock: l}, nil
}

type luaUUIDRepairedLease struct {
	extendableLease
	lock *luaUUIDRepaired
	over bool
}

func (l *luaUUIDRepairedLease) Release(ctx context.Context) error {
	if l.over {
		return ErrNotHeld
	}
	if l.lock.held[l.key] == l.extendableLease { // and not a later lease
		delete(l.lock.held, l.key)
	}
	err := l.extendableLease.Release(ctx)
	// After an indefinite error the key may still be there: the caller may try again.
	l.over = err == nil || Classify(err) == Refused
	return err
}
