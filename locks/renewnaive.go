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
	// naiveRetry is the time that Jedis needs to fail. D tries again at once.
	naiveRetry = 10 * time.Millisecond
)

func renewNaiveSpec() Spec {
	return Spec{
		Name:     "renew-naive",
		Title:    "reentrant-local, renewed at most four times after whole TTLs; one stop flag for all keys",
		Source:   "D",
		Masters:  1,
		Reenters: true,
		HasToken: true,
		Breaks:   naiveBreaks(),
		Promises: Promises{Renews: true},
		New:      newRenewNaive,
	}
}

// naiveBreaks are the clauses that D's lock breaks with and without renewals.
func naiveBreaks() map[string]string {
	return map[string]string{
		"foreign release is refused":         "P62: the last release says that it worked, whatever Redis answers",
		"interrupted acquire leaves nothing": "P26: an acquire whose reply was lost says that the lock is taken",
	}
}

// newRenewNaive returns the lock renew-naive: all of D's class, with persistentExpire.
//
//	acquire  as reentrant-local
//	renew    at the first acquire of a key, and then after each whole TTL: a script that sets
//	         key's TTL if its value is the own token; four times in all
//	release  as reentrant-local
//
// Source: D Java 实现代码, lock, openPersistentExpire and unLock.
//
// Broken: as reentrant-local, and: the second renewal comes after the lease has ended, because
// the thread sleeps the whole TTL (P34); four renewals are all there are (P36); one flag stops the
// renewal of every key that this lock object holds, and the next acquire sets it again for those
// that are asleep (P35); ten threads renew, each of which sleeps on when its key is released, and
// an eleventh lease waits until one of them is free (P61). What a renewal answers is not looked
// at, so that the holder is told nothing and the deadline does not move. One that fails is sent
// again at once and without end.
//
// Different from D: D's pool belongs to the process, which has one lock object here.
//
// The lock is an io.Closer: Close ends all renewals.
func newRenewNaive(env Env) Locker { return newNaive(env, 1) }

func renewNaiveEarlySpec() Spec {
	return Spec{
		Name:     "renew-naive-early",
		Title:    "renew-naive, renewed every third of the TTL",
		Source:   "D, with P34 repaired",
		Masters:  1,
		Variant:  "renew-naive",
		Reenters: true,
		HasToken: true,
		Breaks:   naiveBreaks(),
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
	return newNaive(env, 3)
}

func newNaive(env Env, renewals int) Locker {
	n := &renewNaive{
		background:     newBackground(env, naiveThreads),
		reentrantLocal: newReentrantLocal(env).(*reentrantLocal),
		renewals:       renewals,
	}
	n.first, n.last = n.openPersistentExpire, func() { n.renews.Store(false) }
	return n
}

type renewNaive struct {
	*background
	*reentrantLocal
	renewals int         // in each TTL
	renews   atomic.Bool // D's persistentExpireFlag, of all keys
}

func (n *renewNaive) openPersistentExpire(held *singleLease, ttl time.Duration) {
	n.renews.Store(true)
	n.start(func(r *routine) { n.renew(r, held, ttl) })
}

func (n *renewNaive) renew(r *routine, held *singleLease, ttl time.Duration) {
	if r.sleep(0) != nil {
		return
	}
	for i := 0; i < naiveRenewals && n.renews.Load(); {
		pause := ttl / time.Duration(n.renewals)
		err := r.call(jedisTimeout, func(ctx context.Context) error {
			return compareAndPExpire(ctx, held.lock.env.Nodes[0], held.key, held.token, ttl)
		})
		if err != nil && Classify(err) == Indefinite {
			pause = naiveRetry // and D does not count it
		} else {
			i++
		}
		if r.sleep(pause) != nil {
			return
		}
	}
}
