package locks

import (
	"context"
	"sync/atomic"
	"time"
)

const (
	// naiveThreads is the size of D's pool of renewal threads.
	naiveThreads = 10
	// naiveRenewals is D's default of persistentExpireTimes.
	naiveRenewals = 4
	// naiveTimeout is how long Jedis waits for an answer by default.
	naiveTimeout = 2 * time.Second
	// naiveRetry stands for the time that Jedis needs to fail. D tries again at once.
	naiveRetry = 10 * time.Millisecond
)

func renewNaiveSpec() Spec {
	return Spec{
		Name:     "renew-naive",
		Title:    "setnx-px-lua, renewed at most four times after whole TTLs; one stop flag for all keys",
		Source:   "D",
		Masters:  1,
		HasToken: true,
		Promises: Promises{Renews: true},
		New:      newRenewNaive,
	}
}

// newRenewNaive returns the lock renew-naive: setnx-px-lua with the renewal of D.
//
//	acquire  SET key token NX PX milliseconds
//	renew    at once, and then after each whole TTL: a script that sets key's TTL if its
//	         value is the own token; four times in all
//	release  a script that deletes key if its value is the own token
//
// Source: D Java 实现代码, openPersistentExpire and unLock.
//
// Broken: the second renewal comes after the lease has ended, because the thread sleeps
// the whole TTL (P34); four renewals are all there are (P36); one flag stops the renewal
// of every key that this lock object holds, and the next acquire sets it again for those
// that are asleep (P35); ten threads renew, and an eleventh lease waits until one of them
// is free (P61). What a renewal answers is not looked at, so that the holder is told
// nothing and the deadline does not move.
//
// Different from D: D's pool belongs to the process, which has one lock object here. D's
// thread sleeps on after the release of its own key; here it is free at once, as its
// renewals would find another token or none. D repeats a renewal that fails at once and
// without end; here 10 ms later, and until five TTLs after the acquire.
//
// The lock is an io.Closer: Close ends all renewals.
func newRenewNaive(env Env) Locker {
	return &renewNaive{background: newBackground(env, naiveThreads), single: newSetNXPX(env, compareAndDelete), renewals: 1}
}

func renewNaiveEarlySpec() Spec {
	return Spec{
		Name:     "renew-naive-early",
		Title:    "renew-naive, renewed every third of the TTL",
		Source:   "D, with P34 repaired",
		Masters:  1,
		Variant:  "renew-naive",
		HasToken: true,
		Promises: Promises{Renews: true},
		New:      newRenewNaiveEarly,
	}
}

// newRenewNaiveEarly returns the lock renew-naive-early: renew-naive that does not sleep
// through the lease.
//
//	acquire, release  as renew-naive
//	renew             at once, and then after each third of the TTL; four times in all
//
// It is D with P34 repaired, so that what else is wrong with it can be seen.
//
// Broken: as renew-naive, but for P34.
func newRenewNaiveEarly(env Env) Locker {
	return &renewNaive{background: newBackground(env, naiveThreads), single: newSetNXPX(env, compareAndDelete), renewals: 3}
}

type renewNaive struct {
	*background
	single   *single
	renewals int         // in each TTL
	renews   atomic.Bool // D's persistentExpireFlag, of all keys
}

func (n *renewNaive) Acquire(ctx context.Context, key string, ttl time.Duration) (Lease, error) {
	lease, err := n.single.Acquire(ctx, key, ttl)
	if err != nil {
		return nil, err
	}
	held := lease.(*singleLease)
	n.renews.Store(true)
	thread := n.start(func(r *routine) { n.renew(r, held, ttl) })
	return &renewNaiveLease{singleLease: held, lock: n, thread: thread}, nil
}

func (n *renewNaive) renew(r *routine, held *singleLease, ttl time.Duration) {
	if r.sleep(0) != nil {
		return
	}
	end := held.deadline.Add(naiveRenewals * ttl)
	for i := 0; i < naiveRenewals && n.renews.Load(); {
		pause := ttl / time.Duration(n.renewals)
		err := r.call(naiveTimeout, func(ctx context.Context) error {
			return compareAndPExpire(ctx, n.single.env.Nodes[0], held.key, held.token, ttl)
		})
		if err != nil && Classify(err) == Indefinite {
			pause = naiveRetry // and D does not count it
		} else {
			i++
		}
		if r.sleep(pause) != nil || r.clock.Now().After(end) {
			return
		}
	}
}

// renewNaiveLease is a lease that D renews.
type renewNaiveLease struct {
	*singleLease
	lock   *renewNaive
	thread *routine
}

func (l *renewNaiveLease) Release(ctx context.Context) error {
	l.lock.renews.Store(false)
	l.thread.stop()
	return l.singleLease.Release(ctx)
}
