package locks

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

func luaUUIDSpec() Spec {
	return Spec{
		Name:         "lua-uuid",
		Title:        "script of SETNX and EXPIRE; compare-and-delete script; every error is a refusal",
		Source:       "B",
		Masters:      1,
		WholeSeconds: true,
		Waits:        true,
		Breaks: map[string]string{
			"interrupted acquire leaves nothing": "P26: an acquire whose reply was lost says that the lock is taken",
			"foreign release is refused":         "P62: a release says that it worked, whatever Redis answers",
		},
		New: newLuaUUID,
	}
}

// newLuaUUID returns the lock lua-uuid, an object for each key and client.
//
//	acquire  nothing if the object is locked; else a script: SETNX key value; if that
//	         answered 1: EXPIRE key seconds
//	release  a script that deletes key if its value is the object's; nothing if the object
//	         is not locked
//	await    acquire, again after a tenth of a second, for about as long as a lease
//
// The value is a random UUID, a dot, and the client's clock in milliseconds, made once for
// each object. TTLs are whole seconds, as the listing's int is: any other is an *InputError.
//
// Source: B 追, the listing. It leaves the interval and the number of tries to its caller.
//
// Broken: every error of an acquire is called a refusal, so that one whose reply is lost
// leaves a key behind and says that it did not (P26). The object remembers that it is locked
// until it is unlocked, however long its lease is over: who does not unlock a lock that it
// lost is refused for ever (P87). A release forgets that it is locked before it asks, and
// drops what Redis answers: of a lock that is somebody else's it says that it is done (P62),
// and of one that it could not delete it says the next time that it is not locked. All
// acquires of an object have one value.
//
// Neither the lock nor its leases are safe for concurrent use, as B says: make one lock per
// goroutine.
func newLuaUUID(env Env) Locker {
	return &luaUUID{env: env, objects: map[string]*luaUUIDObject{}}
}

func luaUUIDOneTrySpec() Spec {
	return Spec{
		Name:         "lua-uuid-one-try",
		Title:        "lua-uuid by the loop that gives up before its last try, with one try",
		Source:       "B",
		Masters:      1,
		WholeSeconds: true,
		Variant:      "lua-uuid",
		Waits:        true,
		Breaks: map[string]string{
			"mutual exclusion":                   "P48: with one try it never tries",
			"refusal":                            "P48: with one try it never tries",
			"expiry":                             "P48: with one try it never tries",
			"foreign release is refused":         "P48: with one try it never tries",
			"second release is refused":          "P48: with one try it never tries",
			"interrupted acquire leaves nothing": "P48: with one try it never tries",
			"cancelled context":                  "P48: with one try it never tries",
			"no token":                           "P48: with one try it never tries",
			"deadline is not after expiry":       "P48: with one try it never tries",
			"capabilities are as promised":       "P48: with one try it never tries",
			"no re-entry":                        "P48: with one try it never tries",
		},
		New: newLuaUUIDOneTry,
	}
}

// newLuaUUIDOneTry returns the lock lua-uuid-one-try: lua-uuid whose acquire is the listing's
// loop, with a maximum of one try.
//
//	acquire  nothing
//	release  as lua-uuid
//
// Source: B 追, the listing's second tryLock.
//
// Broken: the loop counts, and gives up, before it tries (++tryCount >= maxTryCount). With
// a maximum of one it answers ErrTaken for a free lock, and sends nothing (P48).
func newLuaUUIDOneTry(env Env) Locker { return newLuaUUIDOneTryPolling(env, polling{Tries: 1}) }

// newLuaUUIDOneTryPolling is newLuaUUIDOneTry with a choice of the maximum. The lock tries
// once less often than that, and sleeps after the last try too.
func newLuaUUIDOneTryPolling(env Env, p polling) Locker {
	lock := newLuaUUID(env).(*luaUUID)
	lock.polling = &p
	return lock
}

// polling says how an acquire waits for a lock that is taken.
type polling struct {
	// Tries is how often it tries; 0 means once.
	Tries int
	// Interval is how long it sleeps between two tries.
	Interval time.Duration
}

// pollEvery is the interval of Await. B leaves it to the caller, and says that without one
// Redis does not bear it.
const pollEvery = 100 * time.Millisecond

type luaUUID struct {
	env     Env
	polling *polling                  // nil: an acquire is the listing's first tryLock
	objects map[string]*luaUUIDObject // by key
}

func (l *luaUUID) Acquire(ctx context.Context, key string, ttl time.Duration) (Lease, error) {
	object, err := l.object(ctx, key, ttl)
	switch {
	case err != nil:
		return nil, err
	case l.polling != nil:
		return object.poll(ctx, ttl, *l.polling)
	default:
		return object.tryLock(ctx, ttl)
	}
}

// Await tries every tenth of a second, for about as long as a lease.
func (l *luaUUID) Await(ctx context.Context, key string, ttl time.Duration) (Lease, error) {
	object, err := l.object(ctx, key, ttl)
	if err != nil {
		return nil, err
	}
	if l.polling != nil {
		return object.poll(ctx, ttl, *l.polling)
	}
	return object.poll(ctx, ttl, polling{Tries: int(ttl/pollEvery) + 2, Interval: pollEvery})
}

// object is the client's object for key.
func (l *luaUUID) object(ctx context.Context, key string, ttl time.Duration) (*luaUUIDObject, error) {
	if err := errors.Join(CheckInput(key, ttl), acceptWholeSeconds(ttl)); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if object := l.objects[key]; object != nil {
		return object, nil
	}
	value, err := uuidAndTime(l.env.Rand, l.env.Clock.Now())
	if err != nil {
		return nil, err
	}
	object := &luaUUIDObject{env: l.env, key: key, value: value}
	l.objects[key] = object
	return object, nil
}

// luaUUIDObject is B's RedisLock.
type luaUUIDObject struct {
	env        Env
	key, value string
	locked     bool
}

// errAlreadyLocked is B's IllegalStateException, which nobody outside tryLock sees.
var errAlreadyLocked = errors.New("already locked")

func (o *luaUUIDObject) doTryLock(ctx context.Context, ttl time.Duration) (Lease, error) {
	if o.locked {
		return nil, errAlreadyLocked
	}
	deadline := o.env.Clock.Now().Add(ttl) // before a byte is sent, see single.Acquire
	if err := setNXExpire(ctx, o.env.Nodes[0], o.key, o.value, ttl); err != nil {
		return nil, err
	}
	o.locked = true
	return &luaUUIDLease{object: o, deadline: deadline}, nil
}

func (o *luaUUIDObject) tryLock(ctx context.Context, ttl time.Duration) (Lease, error) {
	lease, err := o.doTryLock(ctx, ttl)
	if err != nil {
		return nil, ErrTaken // B logs an exception, and says false
	}
	return lease, nil
}

func (o *luaUUIDObject) poll(ctx context.Context, ttl time.Duration, p polling) (Lease, error) {
	for tries := 1; tries < p.Tries; tries++ { // ++tryCount >= maxTryCount
		lease, err := o.doTryLock(ctx, ttl)
		if err == nil {
			return lease, nil
		}
		if !errors.Is(err, ErrTaken) || o.env.Clock.Sleep(ctx, p.Interval) != nil {
			break // B logs an exception, and says false
		}
	}
	return nil, ErrTaken
}

// unlock is what each lease of the object does at its release.
func (o *luaUUIDObject) unlock(ctx context.Context) error {
	if !o.locked {
		return ErrNotHeld
	}
	o.locked = false
	_, err := compareAndDeleteScript.run(ctx, o.env.Nodes[0], []string{o.key}, o.value)
	return err
}

// luaUUIDLease is an acquire of the object.
type luaUUIDLease struct {
	object   *luaUUIDObject
	deadline time.Time
}

func (l *luaUUIDLease) Release(ctx context.Context) error { return l.object.unlock(ctx) }
func (l *luaUUIDLease) Token() int64                      { return 0 }
func (l *luaUUIDLease) Deadline() time.Time               { return l.deadline }

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
