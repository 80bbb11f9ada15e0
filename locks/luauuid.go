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

// polling says how an acquire waits for a lock that is taken.
type polling struct {
	// Tries is how often it tries; 0 means once.
	Tries int
	// Interval is how long it sleeps between two tries.
	Interval time.Duration
}

func luaUUIDSpec() Spec {
	return Spec{
		Name:         "lua-uuid",
		Title:        "script of SETNX and EXPIRE, UUID and time as token; compare-and-delete script",
		Source:       "B",
		Sound:        true,
		Assumption:   "the master keeps its keys and its clock, and the holder stops before its deadline",
		Masters:      1,
		WholeSeconds: true,
		Extends:      true,
		HasToken:     true,
		Waits:        true,
		New:          newLuaUUID,
	}
}

// newLuaUUID returns the lock lua-uuid, which tries once.
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
func newLuaUUID(env Env) Locker { return newLuaUUIDPolling(env, polling{}) }

// newLuaUUIDPolling returns the lock lua-uuid, which tries again while the lock is taken.
//
// It sleeps on the client's clock. An acquire that ends while it sleeps, because its
// context does, is a refusal: ErrTaken with the context's error.
func newLuaUUIDPolling(env Env, p polling) Locker {
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
		polling: p,
		held:    map[string]extendableLease{},
	}
}

func luaUUIDAsPrintedSpec() Spec {
	return Spec{
		Name:         "lua-uuid-as-printed",
		Title:        "lua-uuid whose loop gives up before its last try, with one try",
		Source:       "B",
		Flaw:         "P48",
		Masters:      1,
		WholeSeconds: true,
		Variant:      "lua-uuid",
		Extends:      true,
		HasToken:     true,
		Waits:        true,
		Breaks: map[string]string{
			"mutual exclusion":                   "P48: with one try it never tries",
			"refusal":                            "P48: with one try it never tries",
			"expiry":                             "P48: with one try it never tries",
			"foreign release is refused":         "P48: with one try it never tries",
			"second release is refused":          "P48: with one try it never tries",
			"cancelled context":                  "P48: with one try it never tries",
			"interrupted acquire leaves nothing": "P48: with one try it never tries",
			"deadline is not after expiry":       "P48: with one try it never tries",
			"verify":                             "P48: with one try it never tries",
			"no token":                           "P48: with one try it never tries",
			"bad input":                          "P48: with one try it never tries",
			"capabilities are as promised":       "P48: with one try it never tries",
			"no re-entry":                        "P48: with one try it never tries",
			"extend":                             "P48: with one try it never tries",
			"extend after expiry is refused":     "P48: with one try it never tries",
		},
		New: newLuaUUIDAsPrinted,
	}
}

// newLuaUUIDAsPrinted returns the lock lua-uuid-as-printed: lua-uuid with the loop that B
// prints, and one try.
//
// Source: B 追, the listing's second tryLock.
//
// Broken: the loop counts, and gives up, before it tries (++tryCount >= maxTryCount). With
// a maximum of one it answers ErrTaken for a free lock, and sends nothing (P48).
func newLuaUUIDAsPrinted(env Env) Locker {
	return newLuaUUIDAsPrintedPolling(env, polling{Tries: 1})
}

// newLuaUUIDAsPrintedPolling is newLuaUUIDAsPrinted with a choice of the maximum. The lock
// tries once less often than that, and sleeps after the last try too.
func newLuaUUIDAsPrintedPolling(env Env, p polling) Locker {
	lock := newLuaUUIDPolling(env, p).(*luaUUID)
	lock.asPrinted = true
	return lock
}

type luaUUID struct {
	try       single
	polling   polling
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
