package locks

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/redis/go-redis/v9"
)

// ErrAlreadyLocked says that the lock is taken by this very client. It is an ErrTaken.
var ErrAlreadyLocked = fmt.Errorf("%w: this client holds it already", ErrTaken)

// Polling says how an acquire waits for a lock that is taken.
type Polling struct {
	// Tries is how often it tries; 0 means once.
	Tries int
	// Interval is how long it sleeps between two tries.
	Interval time.Duration
}

// NewLuaUUID returns the lock lua-uuid, which tries once.
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
// Source: B 追. There one object is one key, and has one token for all its acquires; here
// every acquire has its own, so that a late command of one lease cannot hit the next. B
// drops what the release answered; here it is told.
//
// Sound under the assumptions of setnx-px-lua. Neither the lock nor its leases are safe
// for concurrent use, as B says of its own: make one lock per goroutine.
func NewLuaUUID(env Env) Locker { return NewLuaUUIDPolling(env, Polling{}) }

// NewLuaUUIDPolling returns the lock lua-uuid, which tries again while the lock is taken.
//
// It sleeps on the client's clock. An acquire that ends while it sleeps, because its
// context does, is a refusal: ErrTaken with the context's error.
func NewLuaUUIDPolling(env Env, polling Polling) Locker {
	return &luaUUID{
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
		polling: polling,
		held:    map[string]extendableLease{},
	}
}

// NewLuaUUIDAsPrinted returns the lock lua-uuid-as-printed: lua-uuid with the loop that B
// prints, and one try.
//
// Source: B 追, the listing's second tryLock.
//
// Broken: the loop counts, and gives up, before it tries (++tryCount >= maxTryCount). With
// a maximum of one it answers ErrTaken for a free lock, and sends nothing (P48).
func NewLuaUUIDAsPrinted(env Env) Locker {
	return NewLuaUUIDAsPrintedPolling(env, Polling{Tries: 1})
}

// NewLuaUUIDAsPrintedPolling is NewLuaUUIDAsPrinted with a choice of the maximum. The lock
// tries once less often than that, and sleeps after the last try too.
func NewLuaUUIDAsPrintedPolling(env Env, polling Polling) Locker {
	lock := NewLuaUUIDPolling(env, polling).(*luaUUID)
	lock.asPrinted = true
	return lock
}

type luaUUID struct {
	try       single
	polling   Polling
	asPrinted bool
	held      map[string]extendableLease // by key
}

func (l *luaUUID) Acquire(ctx context.Context, key string, ttl time.Duration) (Lease, error) {
	for tries := 1; ; tries++ {
		if l.asPrinted && tries >= l.polling.Tries { // ++tryCount >= maxTryCount
			return nil, ErrTaken
		}
		lease, err := l.tryLock(ctx, key, ttl)
		if !errors.Is(err, ErrTaken) || errors.Is(err, ErrAlreadyLocked) {
			return lease, err
		}
		if !l.asPrinted && tries >= l.polling.Tries {
			return nil, err
		}
		if err := l.try.env.Clock.Sleep(ctx, l.polling.Interval); err != nil {
			return nil, fmt.Errorf("%w, and the wait for it ended: %w", ErrTaken, err)
		}
	}
}

// pollEvery is the interval of Await. B leaves it to the caller, and says that without one
// Redis does not bear it.
const pollEvery = 100 * time.Millisecond

// Await tries every tenth of a second.
func (l *luaUUID) Await(ctx context.Context, key string, ttl time.Duration) (Lease, error) {
	return AcquireWait(ctx, l, key, ttl, Interval{Every: pollEvery, Clock: l.try.env.Clock})
}

func (l *luaUUID) tryLock(ctx context.Context, key string, ttl time.Duration) (Lease, error) {
	if earlier, ok := l.held[key]; ok && l.try.env.Clock.Now().Before(earlier.Deadline()) {
		return nil, ErrAlreadyLocked
	}
	lease, err := l.try.Acquire(ctx, key, ttl)
	if err != nil {
		return nil, err
	}
	held := lease.(extendableLease)
	l.held[key] = held
	return &luaUUIDLease{extendableLease: held, lock: l}, nil
}

type luaUUIDLease struct {
	extendableLease
	lock *luaUUID
	over bool
}

func (l *luaUUIDLease) Release(ctx context.Context) error {
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

// uuidAndTime makes B's token: a random UUID (RFC 9562, version 4), a dot, and now in
// milliseconds.
func uuidAndTime(random io.Reader, now time.Time) (string, error) {
	var b [16]byte
	if _, err := io.ReadFull(random, b[:]); err != nil {
		return "", fmt.Errorf("random token: %w", err)
	}
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x.%d", b[:4], b[4:6], b[6:8], b[8:10], b[10:], now.UnixMilli()), nil
}
