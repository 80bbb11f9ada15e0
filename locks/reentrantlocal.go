package locks

import (
	"context"
	"sync"
	"time"
)

func reentrantLocalSpec() Spec {
	return Spec{
		Name:     "reentrant-local",
		Title:    "setnx-px-lua, re-entries counted by the client",
		Source:   "D",
		Masters:  1,
		Reenters: true,
		HasToken: true,
		Breaks: map[string]string{
			"foreign release is refused":         "P62: the last release says that it worked, whatever Redis answers",
			"interrupted acquire leaves nothing": "P26: an acquire whose reply was lost says that the lock is taken",
		},
		New: newReentrantLocal,
	}
}

// newReentrantLocal returns the lock reentrant-local: setnx-px-lua whose re-entries are
// counted by the client.
//
//	acquire  SET key token NX PX milliseconds; nothing if the count is 1 or more
//	release  at count 0, a script that deletes key if its value is the own token; else nothing
//
// Source: D Java 实现代码, lock and unLock.
//
// Broken: the count outlives the lease, so that a re-entry succeeds while somebody else
// holds the lock (P30), and is told a deadline that Redis knows nothing of. A release says
// that it worked whatever Redis answers (P62), or if Redis cannot be reached (P67); only a
// release without an acquire is refused. An acquire that fails for any reason says that the
// lock is taken, also if its reply was lost (P26).
//
// A Locker stands for one thread of its process. Goroutines that share it re-enter each
// other's lock.
func newReentrantLocal(env Env) Locker {
	return &reentrantLocal{single: newSetNXPX(env, compareAndDelete), held: map[string]*localHold{}}
}

type reentrantLocal struct {
	single *single
	first  func(held *singleLease, ttl time.Duration) // called when a key is had; nil: nothing
	last   func()                                     // called before it is given back; nil: nothing

	mu   sync.Mutex
	held map[string]*localHold // D's ThreadLocal
}

// localHold is what the client remembers of a key.
type localHold struct {
	lease *singleLease
	count int64
}

func (r *reentrantLocal) Acquire(ctx context.Context, key string, ttl time.Duration) (Lease, error) {
	if err := CheckInput(key, ttl); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if lease := r.reenter(key, ttl); lease != nil {
		return lease, nil
	}
	first, err := r.single.Acquire(ctx, key, ttl)
	if err != nil {
		return nil, ErrTaken // D logs an error and says false
	}
	held := first.(*singleLease)
	r.mu.Lock()
	r.held[key] = &localHold{lease: held, count: 1}
	r.mu.Unlock()
	if r.first != nil {
		r.first(held, ttl)
	}
	return &localLease{singleLease: held, lock: r, deadline: held.deadline}, nil
}

// reenter counts one more, or returns nil if the client does not remember the key.
func (r *reentrantLocal) reenter(key string, ttl time.Duration) Lease {
	now := r.single.env.Clock.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	h := r.held[key]
	if h == nil {
		return nil
	}
	h.count++
	return &localLease{singleLease: h.lease, lock: r, deadline: now.Add(ttl)}
}

// Count is what the client remembers. Redis is not asked.
func (r *reentrantLocal) Count(_ context.Context, key string) (int64, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if h := r.held[key]; h != nil {
		return h.count, nil
	}
	return 0, nil
}

// leave counts one less. It returns the lease to give back if that was the last.
func (r *reentrantLocal) leave(key string) (last *singleLease, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	h := r.held[key]
	if h == nil {
		return nil, ErrNotHeld
	}
	if h.count--; h.count > 0 {
		return nil, nil
	}
	delete(r.held, key)
	return h.lease, nil
}

// localLease is one acquire or re-entry.
type localLease struct {
	*singleLease
	lock     *reentrantLocal
	deadline time.Time
}

func (l *localLease) Release(ctx context.Context) error {
	last, err := l.lock.leave(l.key)
	if last != nil {
		if l.lock.last != nil {
			l.lock.last()
		}
		_ = last.Release(ctx) // D logs an error and says true
	}
	return err
}

func (l *localLease) Deadline() time.Time { return l.deadline }
