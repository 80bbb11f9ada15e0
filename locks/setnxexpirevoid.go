package locks

import (
	"context"
	"errors"
	"sync"
	"time"
)

// voidPool is how many connections the pool of the locks of A 3.3 has: what a JedisPool has if nobody asks for
// more. A 3.1 asks for 200, which lasts for a hundred sections in place of four.
const voidPool = 8

func setNXExpireVoidSpec() Spec {
	return Spec{
		Name:       "setnx-expire-void",
		Title:      "SETNX, then EXPIRE; DEL; a lock that tells nobody, and keeps its connections",
		Source:     "A 3.3, A 4.3",
		Masters:    1,
		Variant:    "setnx-expire",
		HasToken:   true,
		PerProcess: true,
		Breaks:     voidBreaks("P07: DEL takes the lock from its next holder"),
		New:        newSetNXExpireVoid,
	}
}

// voidBreaks are the clauses that a lock breaks whose methods return nothing.
func voidBreaks(release string) map[string]string {
	const untold = "P94: who is refused is not told"
	return map[string]string{
		"mutual exclusion":           untold,
		"refusal":                    untold,
		"no re-entry":                untold,
		"foreign release is refused": release,
		"second release is refused":  "no release says what Redis answers",
	}
}

// newSetNXExpireVoid returns the lock setnx-expire-void.
//
//	acquire  PING, SETNX key token; if that answered 1: EXPIRE key seconds
//	release  PING, DEL key
//
// All threads of a process share one lock, with the pool of A 3.1, of 8 connections. Neither
// acquire nor release gives its connection back.
//
// Source: A 3.3, lock, and A 4.3, unLock. Both methods are void: they return nothing.
//
// Broken: whoever finds the lock taken is not told, and goes on as if it had it (P94). Each
// call takes a connection out of the pool for good: the process's ninth waits until it is
// given up. Otherwise as setnx-expire: a client that stops between the two commands leaves a
// key that never expires (P02), and DEL takes the lock from whoever holds it by then (P07).
//
// The lock and its leases are safe for concurrent use.
func newSetNXExpireVoid(env Env) Locker {
	return newVoid(env, func(ctx context.Context, conn connection, key, _ string) error {
		return conn.Del(ctx, key).Err()
	})
}

func setNXExpireVoidGetDelSpec() Spec {
	return Spec{
		Name:       "setnx-expire-void-get-del",
		Title:      "setnx-expire-void released by GET, compare, DEL",
		Source:     "A 3.3, A 4.4",
		Masters:    1,
		Variant:    "setnx-expire",
		HasToken:   true,
		PerProcess: true,
		Breaks:     voidBreaks("P62: a release says that it worked, whatever Redis answers"),
		New:        newSetNXExpireVoidGetDel,
	}
}

// newSetNXExpireVoidGetDel returns the lock setnx-expire-void-get-del.
//
//	acquire  as setnx-expire-void
//	release  PING, GET key; if that answered the own token: DEL key
//
// Source: A 3.3, lock, and A 4.4, unLock1. Both methods are void: they return nothing.
//
// Broken: as setnx-expire-void, but for P07. Between GET's reply and DEL the lease can end
// and the key can become somebody else's (P08), and a release of a lock that is lost says nothing (P62).
//
// The lock and its leases are safe for concurrent use.
func newSetNXExpireVoidGetDel(env Env) Locker {
	return newVoid(env, func(ctx context.Context, conn connection, key, token string) error {
		err := verify(ctx, conn, key, token)
		switch {
		case errors.Is(err, ErrNotHeld):
			return nil // and nobody is told
		case err != nil:
			return err
		}
		return conn.Del(ctx, key).Err()
	})
}

func newVoid(env Env, release func(context.Context, connection, string, string) error) Locker {
	return &voidLock{env: env, pool: newJedisPool(env, voidPool), release: release}
}

type voidLock struct {
	env     Env
	pool    *jedisPool
	release func(ctx context.Context, conn connection, key, token string) error

	drawing sync.Mutex // of env.Rand
}

func (l *voidLock) Acquire(ctx context.Context, key string, ttl time.Duration) (Lease, error) {
	if err := CheckInput(key, ttl); err != nil {
		return nil, err
	}
	token, err := l.draw()
	if err != nil {
		return nil, err
	}
	deadline := l.env.Clock.Now().Add(ttl) // before a byte is sent, see single.Acquire
	conn, err := l.pool.getResource(ctx)   // it is never closed
	if err != nil {
		return nil, err
	}
	err = setNX(ctx, conn, key, token)
	if err == nil {
		err = expire(ctx, conn, key, ttl)
	}
	if err != nil && !errors.Is(err, ErrTaken) { // the method returns nothing
		return nil, err
	}
	return &voidLease{lock: l, key: key, token: token, deadline: deadline}, nil
}

func (l *voidLock) draw() (string, error) {
	l.drawing.Lock()
	defer l.drawing.Unlock()
	return NewToken(l.env.Rand)
}

// voidLease is what a caller of lock believes in.
type voidLease struct {
	lock       *voidLock
	key, token string
	deadline   time.Time
}

func (l *voidLease) Release(ctx context.Context) error {
	conn, err := l.lock.pool.getResource(ctx) // it is never closed
	if err != nil {
		return err
	}
	return l.lock.release(ctx, conn, l.key, l.token)
}

// Verify asks on a connection of the caller's own: the listing has no such method.
func (l *voidLease) Verify(ctx context.Context) error {
	return verify(ctx, l.lock.env.Nodes[0], l.key, l.token)
}

func (l *voidLease) Token() int64        { return 0 }
func (l *voidLease) Deadline() time.Time { return l.deadline }
