package locks

import (
	"context"
	"time"
)

// jedisTimeout is how long Jedis waits for an answer by default.
const jedisTimeout = 2 * time.Second

func renewTimerSpec() Spec {
	return Spec{
		Name:         "renew-timer",
		Title:        "setnx-px-lua, renewed by a timer for as long as there is a key",
		Source:       "C",
		Masters:      1,
		WholeSeconds: true,
		HasToken:     true,
		Promises:     Promises{ReleasesRefused: true, Renews: true},
		New:          newRenewTimer,
	}
}

// newRenewTimer returns the lock renew-timer: setnx-px-lua with C's timer.
//
//	acquire  SET key token NX PX milliseconds
//	renew    every third of the TTL: a script that sends EXPIRE key seconds if EXISTS key
//	release  a script that deletes key if its value is the own token
//
// Source: C 自动续期 1.0: "a timer polls whether the key exists, and if it does sets its expiry anew".
// C says neither how often, nor who stops the timer. Here it stops when it finds no key.
//
// Broken: the timer asks whether there is a key and not whose it is. One that outlives its
// lease, or its release, finds the next holder's key and renews that for as long as its own
// process lives, so that a holder that dies keeps the lock (P89). Nothing bounds how long a
// lock is renewed for a thread that hangs or has died (P39), and nobody is told that no renewal
// has arrived (P37). The deadline does not move.
//
// The lock is an io.Closer: Close ends all timers.
func newRenewTimer(env Env) Locker {
	t := &timer{background: newBackground(env, 0), lock: newSetNXPX(env, compareAndDelete)}
	t.renew = func(ctx context.Context, key string, seconds int64) (int64, error) {
		return existsExpireScript.run(ctx, env.Nodes[0], []string{key}, seconds)
	}
	return t
}

func renewTimerHashSpec() Spec {
	return Spec{
		Name:         "renew-timer-hash",
		Title:        "reentrant-hash, renewed by a timer for as long as the holder's field is there",
		Source:       "C",
		Masters:      1,
		WholeSeconds: true,
		Reenters:     true,
		Promises:     Promises{Renews: true},
		New:          newRenewTimerHash,
	}
}

// newRenewTimerHash returns the lock renew-timer-hash: reentrant-hash with C's timer.
//
//	acquire  as reentrant-hash
//	renew    every third of the TTL: a script that sends EXPIRE key seconds if HEXISTS key holder
//	release  as reentrant-hash
//
// Source: C 自动续期 1.0, the listing. As in renew-timer, the timer stops when it finds nothing to renew.
//
// Broken: as renew-timer, but for P89, as the script looks for the holder's field.
//
// The lock is an io.Closer: Close ends all timers.
func newRenewTimerHash(env Env) Locker {
	hash := &reentrantHash{env: env, holder: holderID(env), acquire: hashAcquireScript, extend: hashExtendScript}
	t := timer{background: newBackground(env, 0), lock: hash}
	t.renew = func(ctx context.Context, key string, seconds int64) (int64, error) {
		return hashExpireScript.run(ctx, env.Nodes[0], []string{key}, hash.holder, seconds)
	}
	return &renewTimerHash{timer: t, hash: hash}
}

type renewTimerHash struct {
	timer
	hash *reentrantHash
}

// Acquire returns a lease that nothing but the timer extends.
func (l *renewTimerHash) Acquire(ctx context.Context, key string, ttl time.Duration) (Lease, error) {
	lease, err := l.timer.Acquire(ctx, key, ttl)
	if err != nil {
		return nil, err
	}
	return struct{ Lease }{lease}, nil
}

func (l *renewTimerHash) Count(ctx context.Context, key string) (int64, error) {
	return l.hash.Count(ctx, key)
}

// timer is a lock whose leases a timer renews. It starts one at each acquire.
type timer struct {
	*background
	lock  Locker
	renew func(ctx context.Context, key string, seconds int64) (int64, error) // 0: there is nothing to renew
}

func (t *timer) Acquire(ctx context.Context, key string, ttl time.Duration) (Lease, error) {
	if err := acceptWholeSeconds(ttl); err != nil {
		return nil, err
	}
	lease, err := t.lock.Acquire(ctx, key, ttl)
	if err != nil {
		return nil, err
	}
	t.start(func(r *routine) { t.tick(r, key, ttl) })
	return lease, nil
}

func (t *timer) tick(r *routine, key string, ttl time.Duration) {
	for r.sleep(ttl/3) == nil {
		var renewed int64
		err := r.call(jedisTimeout, func(ctx context.Context) (err error) {
			renewed, err = t.renew(ctx, key, int64(ttl/time.Second))
			return err
		})
		if err == nil && renewed == 0 {
			return
		}
	}
}
