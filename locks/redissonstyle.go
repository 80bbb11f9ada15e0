package locks

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

func redissonStyleSpec() Spec {
	return Spec{
		Name:       "redisson-style",
		Title:      "reentrant-hash-keep that is renewed, and tells waiters; script with PUBLISH",
		Source:     "D (Redisson)",
		Sound:      true,
		Assumption: "the master keeps its keys and its clock, the holder stops when it is told of the loss, and no command is sent twice (P33, P82)",
		Masters:    1,
		Renews:     true,
		Reenters:   true,
		Notifies:   true,
		Waits:      true,
		Promises:   Promises{NeverShortens: true},
		New:        newRedissonStyle,
	}
}

// newRedissonStyle returns the lock redisson-style, after Redisson's RLock. The holder is
// Env.Client:Env.Thread.
//
//	acquire    a script: if key is absent or has the holder's field: HINCRBY 1, and
//	           PEXPIRE if PTTL is less; else PTTL
//	renew      every third of the TTL: a script: PEXPIRE if key has the holder's field
//	           and PTTL is less
//	release    a script: nil without the holder's field; HINCRBY -1; at 0: DEL, PUBLISH, else
//	           PEXPIRE if PTTL is less
//	subscribe  SUBSCRIBE on a connection of its own, which all waiters of the lock object share
//
// Source: D Redisson 的分布式锁实现; org.redisson.RedissonLock.
//
// The TTL is Redisson's lockWatchdogTimeout. A refusal is a *TakenError with the time that
// the holder has left, and the lock is a Notifier. All leases of one hold share its
// renewal: they are Watched as those of watchdog, and the last release stops it. A hold
// that was lost is not taken up again: a later acquire begins a new one, and leases of the
// old one are then refused.
//
// Different from Redisson: a client has a watchdog timeout for each acquire in place of one for
// all, and the longest counts, so that nothing shortens the lease (P32). D says that a
// renewal comes every 30 s, which is Redisson's timeout: renewals come every third of it.
// A lock for a given time, which is not renewed, is redisson-lease. As in Redisson there is no bound on
// the total hold time (P39), an acquire whose reply is lost may stay counted until the TTL
// ends (P33), and a renewal that arrives after the release may prolong the next hold of
// the same thread, though no other's and not an absent key (P38).
//
// The lock is an io.Closer: Close ends renewals and subscriptions. A Locker stands for one
// thread of its process: goroutines that share it re-enter each other's lock.
//
// Sound under the assumptions of watchdog.
func newRedissonStyle(env Env) Locker {
	b := newBackground(env, 0)
	return &redisson{
		background: b,
		subscriber: newSubscriber(b, env.Nodes[0]),
		env:        env,
		holder:     holderID(env),
		holds:      map[string]*redissonHold{},
	}
}

type redisson struct {
	*background
	subscriber *subscriber
	env        Env
	holder     string

	mu    sync.Mutex
	holds map[string]*redissonHold
}

// redissonHold is what the leases of one key share.
type redissonHold struct {
	renewal *renewal
	leases  int // not given back
}

func (r *redisson) Acquire(ctx context.Context, key string, ttl time.Duration) (Lease, error) {
	if err := CheckInput(key, ttl); err != nil {
		return nil, err
	}
	// Read before a byte is sent, see single.Acquire.
	deadline := r.env.Clock.Now().Add(ttl)
	remaining, err := redissonAcquireScript.run(ctx, r.env.Nodes[0], []string{key}, r.holder, ttl.Milliseconds())
	switch {
	case errors.Is(err, redis.Nil):
		return &redissonLease{lock: r, key: key, hold: r.join(key, deadline, ttl)}, nil
	case err != nil:
		return nil, err
	default:
		return nil, &TakenError{Remaining: time.Duration(remaining) * time.Millisecond}
	}
}

// Await sleeps until the holder's release is told, or its lease ends.
func (r *redisson) Await(ctx context.Context, key string, ttl time.Duration) (Lease, error) {
	return AcquireWait(ctx, r, key, ttl, PubSub{Clock: r.env.Clock})
}

// join adds a lease to the hold of key, or begins a new one.
func (r *redisson) join(key string, deadline time.Time, ttl time.Duration) *redissonHold {
	r.mu.Lock()
	defer r.mu.Unlock()
	if h := r.holds[key]; h != nil && h.renewal.prolong(deadline, ttl) {
		h.leases++
		return h
	}
	h := &redissonHold{leases: 1}
	h.renewal = startRenewal(r.background, deadline, ttl, 0, func(ctx context.Context, ttl time.Duration) error {
		extended, err := hashExtendKeepScript.run(ctx, r.env.Nodes[0], []string{key}, r.holder, ttl.Milliseconds())
		if err == nil && extended == 0 {
			return ErrNotHeld
		}
		return err
	})
	r.holds[key] = h
	return h
}

// leave takes a lease from its hold, and says whether the hold is still the one of key,
// as far as this client knows.
func (r *redisson) leave(l *redissonLease) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if current := r.holds[l.key]; current != nil && current != l.hold {
		return false
	}
	if l.left {
		return true
	}
	l.left = true
	if l.hold.leases--; l.hold.leases == 0 {
		delete(r.holds, l.key)
	}
	return true
}

func (r *redisson) Count(ctx context.Context, key string) (int64, error) {
	return hashCount(ctx, r.env.Nodes[0], key, r.holder)
}

// Subscribe waits until the server has confirmed it, so that no later release is missed.
func (r *redisson) Subscribe(ctx context.Context, key string) (<-chan struct{}, func(), error) {
	return r.subscriber.subscribe(ctx, redissonChannel(key))
}

// redissonChannel is where a release of key is told, by Redisson's name. It falls into
// key's slot of a Redis Cluster, as scripts want it: see FenceKey.
func redissonChannel(key string) string {
	const prefix = "redisson_lock__channel:"
	if strings.Contains(key, "}") {
		return prefix + key
	}
	return prefix + "{" + key + "}"
}

// redissonLease is one acquire or re-entry. It is safe for concurrent use.
type redissonLease struct {
	lock *redisson
	key  string
	hold *redissonHold

	// Guarded by lock.mu.
	left bool // the hold
	over bool // given back or lost for certain
}

// Release gives one acquire back. A lease that was given back is not sent again: that
// would give back the outer one.
func (l *redissonLease) Release(ctx context.Context) error {
	if l.isOver() || !l.lock.leave(l) {
		return ErrNotHeld
	}
	if l.last() {
		l.hold.renewal.stop()
	}
	ttl, _ := l.hold.renewal.lease()
	keys := []string{l.key, redissonChannel(l.key)}
	_, err := redissonReleaseScript.run(ctx, l.lock.env.Nodes[0], keys, l.lock.holder, ttl.Milliseconds())
	if errors.Is(err, redis.Nil) {
		err = ErrNotHeld
	}
	if err == nil || errors.Is(err, ErrNotHeld) {
		l.lock.mu.Lock()
		defer l.lock.mu.Unlock()
		l.over = true
	}
	return err
}

func (l *redissonLease) isOver() bool {
	l.lock.mu.Lock()
	defer l.lock.mu.Unlock()
	return l.over
}

// last reports whether no lease of the hold is left.
func (l *redissonLease) last() bool {
	l.lock.mu.Lock()
	defer l.lock.mu.Unlock()
	return l.hold.leases == 0
}

func (l *redissonLease) Token() int64          { return 0 }
func (l *redissonLease) Lost() <-chan struct{} { return l.hold.renewal.lost }

func (l *redissonLease) Deadline() time.Time {
	_, deadline := l.hold.renewal.lease()
	return deadline
}
