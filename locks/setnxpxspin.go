package locks

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// SpinPool is how many connections setnx-px-spin has. A 3.1 has 200 for a whole server; a
// pool is small if more threads than that wait.
const SpinPool = 2

func setNXPXSpinSpec() Spec {
	return Spec{
		Name:     "setnx-px-spin",
		Title:    "setnx-px-lua that is waited for by trying again at once, on one connection of a small pool",
		Source:   "A 3.1, A 3.2",
		Masters:  1,
		HasToken: true,
		Waits:    true, PerProcess: true,
		New: newSetNXPXSpin,
	}
}

// newSetNXPXSpin returns the lock setnx-px-spin, which is Patient.
//
//	acquire  PING, SET key token NX PX milliseconds
//	await    the same, SET again and again on one connection
//	release  PING, a script that deletes key if its value is the own token
//
// All threads of a process share one lock, which has a pool of SpinPool connections. PING
// tests one that is borrowed. Whoever finds none free waits for one, for 100 s at most. Await
// keeps its connection until it has the lock.
//
// Source: A 3.1, the pool; A 3.2, which spins between getResource and close; A 4.1. There
// Lock waits for ever; here as long as its context lasts.
//
// Broken: a waiter costs Redis as many commands as a connection can carry (P47). With as
// many waiters as the pool has connections, the holder gets none to release with, and the
// lock stays taken until its lease ends (P60). Otherwise as sound as setnx-px-lua.
//
// The lock and its leases are safe for concurrent use.
func newSetNXPXSpin(env Env) Locker { return newSpin(env, true) }

func setNXPXSpinPerCommandSpec() Spec {
	return Spec{
		Name:       "setnx-px-spin-per-command",
		Title:      "setnx-px-spin that takes a connection for each command alone",
		Source:     "A 3.2, repaired",
		Masters:    1,
		Variant:    "setnx-px-spin",
		HasToken:   true,
		Waits:      true,
		PerProcess: true,
		New:        newSetNXPXSpinPerCommand,
	}
}

// newSetNXPXSpinPerCommand returns the lock setnx-px-spin-per-command: setnx-px-spin whose
// Await takes a connection for each command and gives it back. It is broken by P47 alone.
func newSetNXPXSpinPerCommand(env Env) Locker { return newSpin(env, false) }

func newSpin(env Env, keep bool) Locker {
	return &spin{env: env, keep: keep, pool: newJedisPool(env, SpinPool)}
}

type spin struct {
	env  Env
	keep bool // Await keeps its connection
	pool *jedisPool

	drawing sync.Mutex // of env.Rand
}

func (l *spin) Acquire(ctx context.Context, key string, ttl time.Duration) (Lease, error) {
	return l.acquire(ctx, key, ttl, false)
}

func (l *spin) Await(ctx context.Context, key string, ttl time.Duration) (Lease, error) {
	if !l.keep {
		return AcquireWait(ctx, l, key, ttl, Spin{})
	}
	return l.acquire(ctx, key, ttl, true)
}

// acquire tries on one connection: once, or until it has the lock.
func (l *spin) acquire(ctx context.Context, key string, ttl time.Duration, again bool) (Lease, error) {
	if err := CheckInput(key, ttl); err != nil {
		return nil, err
	}
	lease := &spinLease{lock: l, key: key}
	var err error
	if lease.token, err = l.draw(); err != nil {
		return nil, err
	}
	err = l.borrow(ctx, func(conn connection) error {
		for {
			lease.deadline = l.env.Clock.Now().Add(ttl) // before a byte is sent, see single.Acquire
			err := setNXPX(ctx, conn, key, lease.token, ttl)
			if !errors.Is(err, ErrTaken) || !again {
				return err
			}
			if ctx.Err() != nil {
				return fmt.Errorf("%w, and the wait for it was ended: %w", ErrTaken, context.Cause(ctx))
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return lease, nil
}

func (l *spin) draw() (string, error) {
	l.drawing.Lock()
	defer l.drawing.Unlock()
	return NewToken(l.env.Rand)
}

// borrow calls f with a connection of the pool, and waits for one that is free.
func (l *spin) borrow(ctx context.Context, f func(connection) error) error {
	conn, err := l.pool.getResource(ctx)
	if err != nil {
		return err
	}
	defer l.pool.close(conn)
	return f(conn)
}

type spinLease struct {
	lock       *spin
	key, token string
	deadline   time.Time
}

func (l *spinLease) Release(ctx context.Context) error {
	return l.lock.borrow(ctx, func(conn connection) error {
		return deleted(compareAndDeleteScript.run(ctx, conn, []string{l.key}, l.token))
	})
}

func (l *spinLease) Verify(ctx context.Context) error {
	return l.lock.borrow(ctx, func(conn connection) error { return verify(ctx, conn, l.key, l.token) })
}

func (l *spinLease) Token() int64        { return 0 }
func (l *spinLease) Deadline() time.Time { return l.deadline }
